/** Times that a source of memory does not tell: its entries carry their order alone, as milliseconds of the first day of 1970. */

const FIRST_KNOWN = 86_400_000;

/** Whether it is a time, and not merely a place in an order. */
export function isKnownTime(at: number): boolean {
  return at >= FIRST_KNOWN;
}

/** For the entry at this place of an order, 0 for the oldest. */
export function untoldTime(place: number): number {
  return Math.min(Math.max(Math.trunc(place), 0), FIRST_KNOWN - 1);
}
