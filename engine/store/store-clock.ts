/** A store's clock: the system's, corrected by what the store has seen of time. */

import { isExpired } from "./entry-rules.ts";
import type { UnixMs } from "./memory-store.ts";
import {
  expiredForGood,
  firstLook,
  isAstray,
  look,
  type Observation,
  type TimeSeen,
  timeInUse,
} from "./time-seen.ts";

/** Between two looks that are written down, unless something else is written anyway; half a minute here or there is nothing. */
const WORTH_KEEPING_MS = 60_000;

export class StoreClock {
  readonly #system: () => UnixMs;
  #seen: TimeSeen;

  /** `seen`: what was kept of time, undefined for a store that is new to it. */
  constructor(system: () => UnixMs, seen?: TimeSeen) {
    this.#system = () => Math.floor(system());
    this.#seen = seen ?? firstLook(this.#system());
  }

  /** The time that decides what has expired, and from which lives are counted. */
  now(): UnixMs {
    return timeInUse(this.#seen, this.#system());
  }

  get seen(): TimeSeen {
    return this.#seen;
  }

  /** How far the system clock is behind what it cannot be behind; 0 when it may be right. */
  get behindMs(): number {
    const clock = this.#system();
    return isAstray(this.#seen, clock) ? this.now() - clock : 0;
  }

  /** Of another process that shares the store, and has looked since. */
  adopt(seen: TimeSeen): void {
    this.#seen = seen;
  }

  /** Looks at the system clock, if there is anything to remember of it. */
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
    if (isAstray(this.#seen, clock) || this.#seen.astraySince !== undefined) return true;
    return sinceMs < 0 || sinceMs >= WORTH_KEEPING_MS;
  }

  /** What expired then or before may be deleted; undefined: nothing yet. */
  get deletableUntil(): UnixMs | undefined {
    return expiredForGood(this.#seen);
  }

  isExpired(expiresAt: UnixMs | undefined): boolean {
    return isExpired(expiresAt, this.now());
  }
}
