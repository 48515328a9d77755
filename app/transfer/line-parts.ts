/** Common parts of fact, run and former value lines: writer, times, fingerprint. */
import * as z from "zod/mini";
import { defined } from "../../engine/defined.ts";
import { invalidField } from "../../engine/errors.ts";
import { DAY_OR_TIME, readDay, readTime } from "../../engine/rfc3339.ts";
import { fingerprintOf } from "../../engine/store/entry-id.ts";
import type { UnixMs } from "../../engine/store/memory-store.ts";
import type { Writer } from "../../engine/store/writer.ts";

export const writerLine = z.strictObject({
  surface: z.string(),
  agent: z.exactOptional(z.string()),
  session_kind: z.exactOptional(z.string()),
});

/** Of an expiry: whether somebody chose it. */
export const endingLine = z.enum(["default", "chosen"]);

/** The export's claim: the importer is the operator. */
export function writerFrom(line: z.infer<typeof writerLine> | undefined): { readonly writer?: Writer } {
  if (line === undefined) return {};
  const { session_kind: sessionKind, ...writer } = line;
  return { writer: { ...writer, ...defined({ sessionKind }) } };
}

export function requireTime(field: string, text: string): UnixMs {
  const time = readTime(text) ?? readDay(text);
  if (time === undefined) throw invalidField(field, `must be ${DAY_OR_TIME}`);
  return time;
}

export function requireFingerprint(field: string, fingerprint: string | undefined, value: Uint8Array): void {
  if (fingerprint === undefined || fingerprint === fingerprintOf(value)) return;
  throw invalidField(
    field,
    "does not match the value: one of them was changed; leave it out if the value is right",
  );
}
