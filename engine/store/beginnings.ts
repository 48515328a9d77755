/** When every reader of a change feed must begin anew: after a wrong clock was set right. */

import type { Beginning } from "./cursors.ts";
import type { UnixMs } from "./memory-store.ts";

export class Beginnings {
  #begun: Beginning;
  #isDue = false;
  /** The highest number that was ever in use. */
  #highest = 0;
  /** The latest time by which a reader was told what has expired. */
  #latest: UnixMs = Number.NEGATIVE_INFINITY;

  /** @param times how often another store was open before this one under the same cursors: none of theirs counts here */
  constructor(times = 0) {
    this.#begun = { times, before: times === 0 ? 0 : Number.MAX_SAFE_INTEGER };
  }

  /** What was read so far may not be there any longer: with the next answer every reader begins anew. */
  renew(): void {
    this.#isDue = true;
  }

  /** The times between which a clock that went back shows again what it hid; undefined where it went on. */
  hiddenBefore(now: UnixMs): { readonly after: UnixMs; readonly until: UnixMs } | undefined {
    return now < this.#latest ? { after: now, until: this.#latest } : undefined;
  }

  /** To be asked for each answer. `hides`: whether anything expires after the first of two times, up to the second. */
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
