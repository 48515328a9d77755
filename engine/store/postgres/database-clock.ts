/**
 * The server's clock as seen by this process: engines on several machines share one clock, however their own are set.
 *
 * Each write transaction, and each opening, synchronises it; in between it advances by this machine's monotonic clock.
 */
import type { UnixMs } from "../memory-store.ts";

export class DatabaseClock {
  readonly #elapsed: () => number;
  #shown: UnixMs = 0;
  #at = 0;

  /** @param elapsed monotonic milliseconds */
  constructor(elapsed: () => number = () => performance.now()) {
    this.#elapsed = elapsed;
  }

  set(shown: UnixMs): void {
    this.#shown = shown;
    this.#at = this.#elapsed();
  }

  now(): UnixMs {
    return Math.floor(this.#shown + (this.#elapsed() - this.#at));
  }
}
