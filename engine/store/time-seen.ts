/**
 * Observed time: which time to use when the system's clock may be wrong, and what may be deleted.
 *
 * Dangers: a clock without a battery that starts in 1970, a guest that wakes up years ahead for a few seconds, a date set by
 * hand. An expired entry is hidden by the clock as it is, which does no harm once the clock is corrected. It is deleted only when
 * every reading of the last 24 hours of observed time was past its expiry. Observed time advances while processes read the clock,
 * by at most five minutes per reading, so that a jump of the clock does not count. The lowest of those readings is also the
 * floor: a clock below it is certainly wrong, and then time continues from the last plausible reading.
 */

import { defined } from "../defined.ts";
import { jsonOf } from "../json.ts";
import type { UnixMs } from "./memory-store.ts";

/** Midnight UTC of the build day, in Unix milliseconds; the bundler sets it. */
declare const __HELMDECK_BUILT_AT__: number | undefined;

/** Used when running from source: a day before the first release. */
const SOURCES_AT = Date.UTC(2026, 10, 1);

/** The build date. A clock that shows an earlier time is certainly wrong. */
export const BUILT_AT: number =
  typeof __HELMDECK_BUILT_AT__ === "undefined" ? SOURCES_AT : __HELMDECK_BUILT_AT__;

/** The most that one reading adds to observed time. */
export const LONGEST_STEP_MS = 5 * 60 * 1_000;
/** How long an entry must have been expired, in observed time, before it is deleted. */
export const KEPT_EXPIRED_MS = 24 * 3_600 * 1_000;

/**
 * A stretch during which the clock advanced evenly: starts at `at` of observed time with `reading`, and ends with the next
 * stretch.
 */
interface Stretch {
  readonly at: number;
  readonly reading: UnixMs;
}

export interface TimeSeen {
  /** The total, in milliseconds. */
  readonly observedMs: number;
  /** The last reading of the system's clock, right or wrong. */
  readonly reading: UnixMs;
  /** The time in use at the last reading. */
  readonly inUse: UnixMs;
  /** The floor of the clock; never decreases. */
  readonly confirmed: UnixMs;
  /** Of the last 24 observed hours; each starts with a later reading than the one before. Never empty. */
  readonly stretches: readonly Stretch[];
  /** While the clock is below the floor: the time in use when that began. */
  readonly astraySince?: UnixMs;
}

/** The correction of a clock that was below the floor: entries written from `from` to `to` are younger than they claim. */
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

/** The corrected times of entries that were written with the wrong clock; others unchanged. */
export function withCorrectedTimes<T extends Times>(given: T, { from, to, byMs }: Correction): T {
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

/** The first reading of a clock. */
export function firstObservation(clock: UnixMs): TimeSeen {
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

/** The time to use for this reading of the system's clock: the clock itself, unless it is certainly wrong. */
export function effectiveTime(seen: TimeSeen, clock: UnixMs): UnixMs {
  if (!isCertainlyWrong(seen, clock)) return clock;
  if (seen.astraySince === undefined) return Math.max(seen.confirmed, seen.inUse + 1);
  return Math.max(seen.confirmed, seen.inUse + Math.max(0, clock - seen.reading));
}

/** Whether the clock is certainly wrong. */
export function isCertainlyWrong({ confirmed }: TimeSeen, clock: UnixMs): boolean {
  return clock < Math.max(BUILT_AT, confirmed);
}

export function look(seen: TimeSeen, clock: UnixMs): Observation {
  const stepMs = Math.min(LONGEST_STEP_MS, Math.max(0, clock - seen.reading));
  const observedMs = seen.observedMs + stepMs;
  const astray = isCertainlyWrong(seen, clock);
  const inUse = effectiveTime(seen, clock);
  const stretches = extended(seen, observedMs, astray ? certainReading(seen, observedMs) : clock);
  const now: TimeSeen = {
    observedMs,
    reading: clock,
    inUse,
    confirmed: seen.confirmed,
    stretches: recent(stretches, observedMs),
    ...(astray && { astraySince: seen.astraySince ?? inUse }),
  };
  const confirmed = Math.max(seen.confirmed, deletableBefore(now) ?? seen.confirmed);
  const correction = astray ? undefined : correctionOf(seen, clock);
  return { seen: { ...now, confirmed }, ...defined({ correction }) };
}

/** Entries that expired then or earlier may be deleted; undefined while too little time was observed. */
export function deletableBefore({ observedMs, stretches }: TimeSeen): UnixMs | undefined {
  const from = observedMs - KEPT_EXPIRED_MS;
  if (from < 0) return undefined;
  const begun = stretches.findLast(({ at }) => at <= from);
  const later = stretches.find(({ at }) => at > from);
  return Math.min(
    begun === undefined ? Number.POSITIVE_INFINITY : begun.reading + (from - begun.at),
    later?.reading ?? Number.POSITIVE_INFINITY,
  );
}

/** A certainly wrong clock still ticks: from the floor on, it measures elapsed time. */
function certainReading(seen: TimeSeen, observedMs: number): UnixMs {
  if (seen.astraySince === undefined) return Math.max(BUILT_AT, seen.confirmed);
  return expectedAt(seen.stretches, observedMs);
}

function expectedAt(stretches: readonly Stretch[], observedMs: number): UnixMs {
  const last = stretches.at(-1);
  return last === undefined ? BUILT_AT : last.reading + (observedMs - last.at);
}

/** A jump forward starts a stretch; a jump back also ends all later ones, since the lowest reading counts. */
function extended({ stretches }: TimeSeen, at: number, reading: UnixMs): readonly Stretch[] {
  if (stretches.length > 0 && reading === expectedAt(stretches, at)) return stretches;
  return [...stretches.filter((before) => before.reading < reading), { at, reading }];
}

/** Without stretches that ended before the last 24 observed hours. */
function recent(stretches: readonly Stretch[], observedMs: number): readonly Stretch[] {
  const from = observedMs - KEPT_EXPIRED_MS;
  const first = stretches.findLastIndex(({ at }) => at <= from);
  return first <= 0 ? stretches : stretches.slice(first);
}

function correctionOf({ astraySince, inUse }: TimeSeen, clock: UnixMs): Correction | undefined {
  if (astraySince === undefined || clock <= inUse) return undefined;
  return { from: astraySince, to: inUse, byMs: clock - inUse };
}

/** One line of text, to be saved. */
export function encodeTimeSeen({ stretches, ...seen }: TimeSeen): string {
  return JSON.stringify({ ...seen, stretches: stretches.map(({ at, reading }) => [at, reading]) });
}

/**
 * Undefined for anything that {@link encodeTimeSeen} did not create: observation then starts anew, and nothing is deleted for a
 * day.
 */
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
  const parsed = jsonOf(text);
  return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value);
}
