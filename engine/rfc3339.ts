/**
 * Times as RFC 3339 in UTC, like helmdeck, and days: dates that came without a time, such as a daily note's.
 *
 * A day is kept as its midnight in UTC and is that date in every zone. A clock gives this very millisecond once in 86 million times;
 * such a time is shown as its date.
 */
import type { UnixMs } from "./store/memory-store.ts";

export function rfc3339(unixMs: UnixMs): string {
  return new Date(unixMs).toISOString();
}

/** `2026-11-20`, in UTC. */
export function dateOf(at: UnixMs): string {
  return rfc3339(at).slice(0, "2026-01-01".length);
}

/** The date of a day, and otherwise the time. */
export function dayOrTime(at: UnixMs): string {
  return isDay(at) ? dateOf(at) : rfc3339(at);
}

const DAY_MS = 86_400_000;

/** A real time, rather than a position in an order: where a source gives no more, that is stored as milliseconds of the first day of 1970. */
export function isKnownTime(at: number): boolean {
  return at >= DAY_MS;
}

/** The stand-in time for a position in an order; 0 for the oldest entry. */
export function placeholderTime(place: number): number {
  return Math.min(Math.max(Math.trunc(place), 0), DAY_MS - 1);
}

export function isDay(at: UnixMs): boolean {
  return isKnownTime(at) && at % DAY_MS === 0;
}

/** Whether it is still to come everywhere: a day begins first at UTC+14. */
export function isToCome(at: UnixMs, now: UnixMs): boolean {
  return at > (isDay(at) ? now + FIRST_ZONE_MS : now);
}
const FIRST_ZONE_MS = 14 * 3_600_000;

const RFC_3339 = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d)?)(\.\d+)?(Z|z|[+-]\d\d:\d\d)$/;

/** Undefined when the text is not a valid RFC 3339 time from 1970 on. Truncates to milliseconds. */
export function readTime(text: string): UnixMs | undefined {
  const [, day, clock, fraction = "", zone] = RFC_3339.exec(text) ?? [];
  if (day === undefined || clock === undefined || zone === undefined) return undefined;
  const time = Date.parse(`${day}T${clock}${fraction.slice(0, 4)}${zone.toUpperCase()}`);
  return Number.isNaN(time) || time < 0 || !isOnCalendar(day, clock) ? undefined : time;
}

/** The day of a date such as `2026-11-20`; undefined for anything else, and for a date that no calendar has. */
export function readDay(date: string): UnixMs | undefined {
  return readTime(`${date}T00:00:00Z`);
}

/** JavaScript accepts February 30 as March 2, and 24:00 as the next day. */
function isOnCalendar(day: string, clock: string): boolean {
  const utc = new Date(`${day}T${clock}Z`);
  return !Number.isNaN(utc.getTime()) && utc.toISOString().startsWith(`${day}T${clock}`);
}

export const DAY_OR_TIME = "a day such as 2026-11-20, or a time such as 2026-11-20T12:00:00Z";

/** What somebody asks about: a time, and the day that their calendar shows then. */
export interface Moment {
  readonly at: UnixMs;
  readonly day: UnixMs;
}

/** Of a time in RFC 3339, whose offset says which day it is for the asker, of a day in UTC, or of Unix milliseconds. */
export function readMoment(given: unknown, ofDay: "begin" | "end"): Moment | undefined {
  if (typeof given === "number" && Number.isFinite(given))
    return { at: given, day: given - (given % DAY_MS) };
  if (typeof given !== "string") return undefined;
  const whole = readDay(given);
  if (whole !== undefined) return { at: ofDay === "begin" ? whole : whole + DAY_MS - 1, day: whole };
  const [at, day] = [readTime(given), readDay(given.slice(0, "2026-01-01".length))];
  return at === undefined || day === undefined ? undefined : { at, day };
}

/** Whether a time, or a day in every zone, has come at that moment. */
export function hasBegun(at: UnixMs, moment: Moment): boolean {
  return at <= (isDay(at) ? moment.day : moment.at);
}
