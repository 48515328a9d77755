/** When a fact ends, in a sentence. */
import { fromNow, minuteOf } from "../words.ts";

export function endText(now: number, expiresAt: number | undefined): string {
  return expiresAt === undefined ? "never" : `${minuteOf(expiresAt)} UTC (${fromNow(now, expiresAt)})`;
}
