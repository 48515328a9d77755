/** A store's clock: the system's clock, corrected by the observed time. */

import type { UnixMs } from "./memory-store.ts";
import {
  deletableBefore,
  effectiveTime,
  firstObservation,
  isCertainlyWrong,
  look,
  type Observation,
  type TimeSeen,
} from "./time-seen.ts";

/** How far the observed time may advance before it is saved without another write; half a minute more or less does not matter. */
const WORTH_KEEPING_MS = 60_000;

export class StoreClock {
  readonly #system: () => UnixMs;
  #seen: TimeSeen;

  /** `seen`: the saved observed time; undefined for a new store. */
  constructor(system: () => UnixMs, seen?: TimeSeen) {
    this.#system = () => Math.floor(system());
    this.#seen = seen ?? firstObservation(this.#system());
  }

  /** The time for expiry and lifetimes. */
  now(): UnixMs {
    return effectiveTime(this.#seen, this.#system());
  }

  get seen(): TimeSeen {
    return this.#seen;
  }

  /** By how much the system's clock is certainly behind; 0 when it may be right. */
  get behindMs(): number {
    const clock = this.#system();
    return isCertainlyWrong(this.#seen, clock) ? this.now() - clock : 0;
  }

  /** Adopts the later observation of another process that shares the store. */
  adopt(seen: TimeSeen): void {
    this.#seen = seen;
  }

  /** Reads the system's clock; undefined when there is nothing to save. */
  observe(): Observation | undefined {
    const clock = this.#system();
    if (!this.#isWorthKeeping(clock)) return undefined;
    const observation = look(this.#seen, clock);
    this.#seen = observation.seen;
    return observation;
  }

  isWorthKeeping(): boolean {
    return this.#isWorthKeeping(this.#system());
  }

  #isWorthKeeping(clock: UnixMs): boolean {
    const sinceMs = clock - this.#seen.reading;
    if (isCertainlyWrong(this.#seen, clock) || this.#seen.astraySince !== undefined) return true;
    return sinceMs < 0 || sinceMs >= WORTH_KEEPING_MS;
  }

  /** Entries that expired then or earlier may be deleted; undefined: none yet. */
  get deletableUntil(): UnixMs | undefined {
    return deletableBefore(this.#seen);
  }
}
