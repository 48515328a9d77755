/** Common parts of fact, run and former value lines: writer, times, fingerprint. */
import * as z from "zod/mini";
import { defined } from "../../engine/defined.ts";
import { invalidField } from "../../engine/errors.ts";
import { fingerprintOf } from "../../engine/store/entry-id.ts";
import type { UnixMs } from "../../engine/store/memory-store.ts";
import type { Writer } from "../../engine/store/writer.ts";

export const writerLine = z.strictObject({
  surface: z.string(),
  agent: z.exactOptional(z.string()),
  session_kind: z.exactOptional(z.string()),
});

/** The export's claim: the importer is the operator. */
export function writerFrom(line: z.infer<typeof writerLine> | undefined): { readonly writer?: Writer } {
  if (line === undefined) return {};
  const { session_kind: sessionKind, ...writer } = line;
  return { writer: { ...writer, ...defined({ sessionKind }) } };
}

export function requireTime(field: string, text: string): UnixMs {
  const time = readTime(text);
  if (time === undefined) throw invalidField(field, "must be an RFC 3339 time, such as 2026-01-31T12:00:00Z");
  return time;
}

export function requireFingerprint(field: string, fingerprint: string | undefined, value: Uint8Array): void {
  if (fingerprint === undefined || fingerprint === fingerprintOf(value)) return;
  throw invalidField(
    field,
    "does not match the value: one of them was changed; leave it out if the value is right",
  );
}

const RFC_3339 = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?(Z|z|[+-]\d\d:\d\d)$/;

/**
 * Parses RFC 3339 times of exported lines.
 *
 * Undefined when the text is not a valid RFC 3339 time from 1970 on. Truncates to milliseconds.
 */
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
