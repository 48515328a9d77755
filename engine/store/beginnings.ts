/** Decides when the readers of a change feed must start over: after a wrong clock was corrected. */

import type { Beginning } from "./cursors.ts";
import type { UnixMs } from "./memory-store.ts";

export class Beginnings {
  #begun: Beginning;
  #isDue = false;
  /** The highest sequence number so far. */
  #highest = 0;
  /** The latest time at which a reader was told what has expired. */
  #latest: UnixMs = Number.NEGATIVE_INFINITY;

  /** @param times how often another store was opened under the same cursors before this one: its cursors are invalid here */
  constructor(times = 0) {
    this.#begun = { times, before: times === 0 ? 0 : Number.MAX_SAFE_INTEGER };
  }

  /** Data that was read before may be gone: every reader starts over with its next request. */
  renew(): void {
    this.#isDue = true;
  }

  /** The time range that a clock set back makes visible again; undefined when it did not go back. */
  hiddenBefore(now: UnixMs): { readonly after: UnixMs; readonly until: UnixMs } | undefined {
    return now < this.#latest ? { after: now, until: this.#latest } : undefined;
  }

  /** Call for each answer. `hides`: whether anything expires after the first time, up to and including the second. */
  at(now: UnixMs, lastSeq: number, hides: (after: UnixMs, until: UnixMs) => boolean): Beginning {
    this.#highest = Math.max(this.#highest, lastSeq);
    if (this.#isDue || (now < this.#latest && hides(now, this.#latest))) {
      this.#begun = { times: this.#begun.times + 1, before: this.#highest + 1 };
    }
    this.#isDue = false;
    this.#latest = now;
    return this.#begun;
  }
}
