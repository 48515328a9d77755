/** Loaded into the gateway before its own code: writes every fifth of a second how long its main thread was late. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

const EVERY_MS = 10;
const WRITE_MS = 200;
const { HELMDECK_BENCH_BLOCKED: name, TMPDIR = "." } = process.env;

if (isMainThread && name !== undefined && process.argv.includes("gateway")) {
  let last = performance.now();
  let longest = 0;
  setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - EVERY_MS);
    last = now;
  }, EVERY_MS).unref();
  setInterval(() => {
    appendFileSync(join(TMPDIR, "..", name), `${Date.now()} ${longest.toFixed(1)}\n`);
    longest = 0;
  }, WRITE_MS).unref();
}
