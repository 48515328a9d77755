/** Preloaded into a gateway: at SIGUSR2 its clock goes six minutes ahead, longer than the host's cookie for a frame lives. */
const AHEAD_MS = 6 * 60_000;
let aheadMs = 0;
const { now } = Date;
Date.now = () => now() + aheadMs;
process.on("SIGUSR2", () => {
  aheadMs = AHEAD_MS;
});
