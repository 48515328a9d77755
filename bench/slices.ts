/** Measures how long this thread blocks others: the most processor time between two turns of the event loop. */

/** Uses processor time, because on a busy machine the clock also measures other processes. The system counts it in ticks of up to 4 ms. */
export function watchSlices(): { stop(): number } {
  let last = process.threadCpuUsage();
  let longest = 0;
  let isStopped = false;
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1_000);
    last = process.threadCpuUsage();
    if (!isStopped) setImmediate(look);
  };
  setImmediate(look);
  return {
    stop() {
      isStopped = true;
      return longest;
    },
  };
}
