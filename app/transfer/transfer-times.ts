/** Parses RFC 3339 times of exported lines. */
import type { UnixMs } from "../../engine/store/memory-store.ts";

const RFC_3339 = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?(Z|z|[+-]\d\d:\d\d)$/;

/** Undefined when the text is not a valid RFC 3339 time from 1970 on. Truncates to milliseconds. */
export function readTime(text: string): UnixMs | undefined {
  const [, day, clock, fraction = "", zone] = RFC_3339.exec(text) ?? [];
  if (day === undefined || clock === undefined || zone === undefined) return undefined;
  const time = Date.parse(`${day}T${clock}${fraction.slice(0, 4)}${zone.toUpperCase()}`);
  return Number.isNaN(time) || time < 0 || !isOnCalendar(day, clock) ? undefined : time;
}

/** JavaScript accepts February 30 as March 2, and 24:00 as the next day. */
function isOnCalendar(day: string, clock: string): boolean {
  const utc = new Date(`${day}T${clock}Z`);
  return !Number.isNaN(utc.getTime()) && utc.toISOString().startsWith(`${day}T${clock}`);
}
