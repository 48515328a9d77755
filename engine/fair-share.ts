/** How much each caller may hold at once (sessions, runs, requests), so that nobody is refused or ended because of others. */

export interface ShareLimits {
  /** Whatever others hold. */
  readonly perCaller: number;
  /** Of all callers. Once it is reached, each may hold an equal part of it, at least one. */
  readonly total: number;
}

/** How many each caller holds. */
export function countByCaller(holders: Iterable<string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const caller of holders) counts.set(caller, (counts.get(caller) ?? 0) + 1);
  return counts;
}

/**
 * How many the caller may hold, the one that is asked for included.
 *
 * Who holds less than an equal part gets one even when the total is used up: refusing would make it pay for others, and
 * ending another's would make them pay for it. So the total can be exceeded, by a factor that grows with the logarithm of the
 * number of callers; each of them needs a token that the operator made.
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

/** Places that callers take and give back. */
export class SharedPlaces {
  readonly #limits: ShareLimits;
  readonly #held = new Map<string, number>();

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** Gives the place back when it is called, once or more often; undefined when the caller has its share. */
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
