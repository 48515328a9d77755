/**
 * The server's clock, as this process knows it: engines on several machines go by one clock, however their own are set.
 *
 * Each transaction that writes, and each opening, tells it anew; in between it goes on by this machine's count of time gone by.
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
