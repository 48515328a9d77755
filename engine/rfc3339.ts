/** Formats times as RFC 3339 in UTC, like helmdeck. */
import type { UnixMs } from "./store/memory-store.ts";

export function rfc3339(unixMs: UnixMs): string {
  return new Date(unixMs).toISOString();
}

const FIRST_KNOWN = 86_400_000;

/**
 * Unknown times: some sources give only the order of their entries. That order is stored as milliseconds of the first day of
 * 1970.
 *
 * Whether this is a real time rather than a position in an order.
 */
export function isKnownTime(at: number): boolean {
  return at >= FIRST_KNOWN;
}

/** The stand-in time for a position in an order; 0 for the oldest entry. */
export function placeholderTime(place: number): number {
  return Math.min(Math.max(Math.trunc(place), 0), FIRST_KNOWN - 1);
}
