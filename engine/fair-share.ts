/** Limits how much each caller may hold at once (sessions, runs, requests), so that callers cannot crowd each other out. */

export interface ShareLimits {
  /** Regardless of other callers. */
  readonly perCaller: number;
  /** For all callers together. Once reached, each may hold an equal share, at least one. */
  readonly total: number;
}

/** Counts the holdings of each caller. */
export function countByCaller(holders: Iterable<string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const caller of holders) counts.set(caller, (counts.get(caller) ?? 0) + 1);
  return counts;
}

/**
 * How many the caller may hold, including the requested one.
 *
 * A caller below its equal share gets one even when the total is used up: refusing it, or evicting another caller's, would make
 * one pay for the other. So the total can be exceeded, by a factor that grows with the logarithm of the number of callers; each
 * caller needs a token that the operator made.
 */
export function shareOf(
  caller: string,
  held: ReadonlyMap<string, number>,
  { perCaller, total }: ShareLimits,
): number {
  const all = held.values().reduce((sum, count) => sum + count, 0);
  if (all < total) return perCaller;
  const callers = held.size + (held.has(caller) ? 0 : 1);
  return Math.min(perCaller, Math.max(1, Math.floor(total / callers)));
}

export function hasRoom(caller: string, held: ReadonlyMap<string, number>, limits: ShareLimits): boolean {
  return (held.get(caller) ?? 0) < shareOf(caller, held, limits);
}

/** Slots that callers take and release. */
export class SharedPlaces {
  readonly #limits: ShareLimits;
  readonly #held = new Map<string, number>();

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** Returns a function that releases the slot and may be called repeatedly; undefined when the caller has its share. */
  take(caller: string): (() => void) | undefined {
    if (!hasRoom(caller, this.#held, this.#limits)) return undefined;
    this.#add(caller, 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.#add(caller, -1);
      isHeld = false;
    };
  }

  #add(caller: string, change: 1 | -1): void {
    const count = (this.#held.get(caller) ?? 0) + change;
    if (count > 0) this.#held.set(caller, count);
    else this.#held.delete(caller);
  }
}
