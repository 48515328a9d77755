/**
 * The server's clock as seen by this process: engines on several machines share one clock, however their own are set.
 *
 * Each read and each write transaction synchronises it. In between it advances by this machine's monotonic clock, which stands
 * still while the machine sleeps.
 */
import type { UnixMs } from "../memory-store.ts";

/** The server's clock in Unix milliseconds, in SQL. */
export const CLOCK = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

export class DatabaseClock {
  #shown: UnixMs = 0;
  #at = 0;

  set(shown: UnixMs): void {
    this.#shown = shown;
    this.#at = performance.now();
  }

  now(): UnixMs {
    return Math.floor(this.#shown + (performance.now() - this.#at));
  }
}
