/**
 * Time as a store has seen it: which time to go by when the system clock may be wrong, and what may be deleted.
 *
 * Who attacks: a clock without a battery that starts in 1970, a guest that wakes years ahead for a few seconds, a person who
 * sets the date by hand. What stops them: an expired entry is hidden by the clock as it is, which costs nothing once the clock
 * is corrected, but it is deleted only when every reading of the last 24 hours of observed time was past its expiry. Observed
 * time grows while processes look at the clock, by at most five minutes from one look to the next, so that a leap of the clock
 * is no time at all. The least of those readings is also the floor: a clock below it is certainly wrong, and then time goes on
 * from the last reading that was possible.
 */

import { BUILT_AT } from "../build-date.ts";
import { defined } from "../defined.ts";
import type { UnixMs } from "./memory-store.ts";

/** The most that one look at the clock adds to observed time. */
export const LONGEST_STEP_MS = 5 * 60 * 1_000;
/** For how long of observed time an entry has been expired before it is deleted. */
export const KEPT_EXPIRED_MS = 24 * 3_600 * 1_000;

/** From `at` of observed time on the clock went evenly, beginning with `reading`; until the next stretch. */
interface Stretch {
  readonly at: number;
  readonly reading: UnixMs;
}

export interface TimeSeen {
  /** In all, in milliseconds. */
  readonly observedMs: number;
  /** What the system clock showed at the last look, right or wrong. */
  readonly reading: UnixMs;
  /** The time gone by at the last look. */
  readonly inUse: UnixMs;
  /** What the clock cannot be behind; never earlier than it was. */
  readonly confirmed: UnixMs;
  /** Of the last 24 observed hours; each begins with a later reading than the one before. Never empty. */
  readonly stretches: readonly Stretch[];
  /** While the clock is below the floor: the time in use when that began. */
  readonly astraySince?: UnixMs;
}

/** A clock that was below the floor has been set: what was written from `from` to `to` is younger than it says. */
export interface Correction {
  readonly from: UnixMs;
  readonly to: UnixMs;
  readonly byMs: number;
}

interface Times {
  readonly createdAt: UnixMs;
  readonly updatedAt: UnixMs;
  readonly expiresAt?: UnixMs | null;
}

/** Of what was written by a clock that was wrong, the true times; of anything else, the very same. */
export function withTimesRight<T extends Times>(given: T, { from, to, byMs }: Correction): T {
  const { createdAt, updatedAt, expiresAt } = given;
  if (updatedAt < from || updatedAt > to) return given;
  return {
    ...given,
    createdAt: createdAt < from ? createdAt : createdAt + byMs,
    updatedAt: updatedAt + byMs,
    ...(typeof expiresAt === "number" && { expiresAt: expiresAt + byMs }),
  };
}

export interface Observation {
  readonly seen: TimeSeen;
  readonly correction?: Correction;
}

/** The first look at a clock. */
export function firstLook(clock: UnixMs): TimeSeen {
  const inUse = Math.max(BUILT_AT, clock);
  return {
    observedMs: 0,
    reading: clock,
    inUse,
    confirmed: BUILT_AT,
    stretches: [{ at: 0, reading: inUse }],
    ...(clock < BUILT_AT && { astraySince: inUse }),
  };
}

/** The time to go by while the system clock shows this: the clock itself, unless it is certainly wrong. */
export function timeInUse(seen: TimeSeen, clock: UnixMs): UnixMs {
  if (!isAstray(seen, clock)) return clock;
  if (seen.astraySince === undefined) return Math.max(seen.confirmed, seen.inUse + 1);
  return Math.max(seen.confirmed, seen.inUse + Math.max(0, clock - seen.reading));
}

/** True when the clock is certainly wrong. */
export function isAstray({ confirmed }: TimeSeen, clock: UnixMs): boolean {
  return clock < Math.max(BUILT_AT, confirmed);
}

export function look(seen: TimeSeen, clock: UnixMs): Observation {
  const stepMs = Math.min(LONGEST_STEP_MS, Math.max(0, clock - seen.reading));
  const observedMs = seen.observedMs + stepMs;
  const astray = isAstray(seen, clock);
  const inUse = timeInUse(seen, clock);
  const stretches = extended(seen, observedMs, astray ? certainReading(seen, observedMs) : clock);
  const now: TimeSeen = {
    observedMs,
    reading: clock,
    inUse,
    confirmed: seen.confirmed,
    stretches: recent(stretches, observedMs),
    ...(astray && { astraySince: seen.astraySince ?? inUse }),
  };
  const confirmed = Math.max(seen.confirmed, expiredForGood(now) ?? seen.confirmed);
  const correction = astray ? undefined : correctionOf(seen, clock);
  return { seen: { ...now, confirmed }, ...defined({ correction }) };
}

/** What expired at this time or before may be deleted; undefined while too little time was observed. */
export function expiredForGood({ observedMs, stretches }: TimeSeen): UnixMs | undefined {
  const from = observedMs - KEPT_EXPIRED_MS;
  if (from < 0) return undefined;
  const begun = stretches.findLast(({ at }) => at <= from);
  const later = stretches.find(({ at }) => at > from);
  return Math.min(
    begun === undefined ? Number.POSITIVE_INFINITY : begun.reading + (from - begun.at),
    later?.reading ?? Number.POSITIVE_INFINITY,
  );
}

/** A clock that is certainly wrong still ticks: from the floor on it counts what has certainly passed. */
function certainReading(seen: TimeSeen, observedMs: number): UnixMs {
  if (seen.astraySince === undefined) return Math.max(BUILT_AT, seen.confirmed);
  return expectedAt(seen.stretches, observedMs);
}

function expectedAt(stretches: readonly Stretch[], observedMs: number): UnixMs {
  const last = stretches.at(-1);
  return last === undefined ? BUILT_AT : last.reading + (observedMs - last.at);
}

/** A leap forward begins a stretch; a leap back also ends all that were later, since the least reading counts. */
function extended({ stretches }: TimeSeen, at: number, reading: UnixMs): readonly Stretch[] {
  if (stretches.length > 0 && reading === expectedAt(stretches, at)) return stretches;
  return [...stretches.filter((before) => before.reading < reading), { at, reading }];
}

/** Without what was over before the last 24 observed hours began. */
function recent(stretches: readonly Stretch[], observedMs: number): readonly Stretch[] {
  const from = observedMs - KEPT_EXPIRED_MS;
  const first = stretches.findLastIndex(({ at }) => at <= from);
  return first <= 0 ? stretches : stretches.slice(first);
}

function correctionOf({ astraySince, inUse }: TimeSeen, clock: UnixMs): Correction | undefined {
  if (astraySince === undefined || clock <= inUse) return undefined;
  return { from: astraySince, to: inUse, byMs: clock - inUse };
}

/** As one line of text, to be kept. */
export function encodeTimeSeen({ stretches, ...seen }: TimeSeen): string {
  return JSON.stringify({ ...seen, stretches: stretches.map(({ at, reading }) => [at, reading]) });
}

/** Undefined for anything that {@link encodeTimeSeen} did not make: time is then observed anew, and nothing deleted for a day. */
export function decodeTimeSeen(text: string): TimeSeen | undefined {
  const { observedMs, reading, inUse, confirmed, stretches, astraySince } = parseObject(text);
  if (!isTime(observedMs) || !isTime(reading) || !isTime(inUse) || !isTime(confirmed)) return undefined;
  if (!Array.isArray(stretches) || stretches.length === 0) return undefined;
  const decoded = stretches.flatMap(decodeStretch);
  if (decoded.length !== stretches.length) return undefined;
  return {
    ...{ observedMs, reading, inUse, confirmed },
    stretches: decoded,
    ...(isTime(astraySince) && { astraySince }),
  };
}

function decodeStretch(pair: unknown): readonly Stretch[] {
  const [at, reading]: readonly unknown[] = Array.isArray(pair) ? pair : [];
  return isTime(at) && isTime(reading) ? [{ at, reading }] : [];
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value);
}
