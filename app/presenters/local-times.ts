/** Times for people on a command line. */
import { isKnownTime } from "../../engine/known-time.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `2026-11-20 22:53`, in the local time zone. */
export function localMinute(at: number): string {
  if (!isKnownTime(at)) return "an unknown time";
  const date = new Date(at);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** `in 89 days`, `in 5 hours`, `never`. */
export function expiryFrom(now: number, expiresAt: number | undefined): string {
  if (expiresAt === undefined) return "never";
  const left = expiresAt - now;
  if (left <= 0) return "expired";
  if (left >= 2 * DAY) return `in ${Math.round(left / DAY)} days`;
  if (left >= 2 * HOUR) return `in ${Math.round(left / HOUR)} hours`;
  const minutes = Math.max(1, Math.round(left / MINUTE));
  return minutes === 1 ? "in 1 minute" : `in ${minutes} minutes`;
}

function two(part: number): string {
  return String(part).padStart(2, "0");
}
