/** A fact's expiry, for a sentence. */
import { fromNow, minuteOf } from "../words.ts";

export function expiryText(now: number, expiresAt: number | undefined): string {
  return expiresAt === undefined ? "never" : `${minuteOf(expiresAt)} UTC (${fromNow(now, expiresAt)})`;
}
