/** Writes a fact's history into a line of an export on request, and reads it strictly. */
import * as z from "zod/mini";
import { defined } from "../../engine/defined.ts";
import { validateFact } from "../../engine/facts/facts-policy.ts";
import type { FormerValue, UnixMs } from "../../engine/store/memory-store.ts";
import { valueView } from "../fact-view.ts";
import type { FormerView } from "../memory.ts";
import { type ToWire, toWire } from "../wire/codec.ts";
import { endingLine, requireFingerprint, requireTime, writerFrom, writerLine } from "./line-parts.ts";

/** A life's id in an export; it only has to be unique there. */
const LIFE = /^[\w-]{1,64}$/;

export const formerLine = z.strictObject({
  key: z.string(),
  value: z.string(),
  category: z.string(),
  tags: z.array(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
  expires_at: z.exactOptional(z.string()),
  ending: z.exactOptional(endingLine),
  fingerprint: z.exactOptional(z.string()),
  writer: z.exactOptional(writerLine),
  conversation_id: z.exactOptional(z.string()),
  life: z.exactOptional(z.string().check(z.regex(LIFE))),
  into: z.exactOptional(z.string().check(z.regex(LIFE))),
  joined: z.boolean(),
} satisfies Record<string, unknown> & Record<keyof ToWire<FormerView>, unknown>);

/** Oldest first. */
export function historyLine(shown: readonly FormerValue[]): readonly object[] {
  return shown.toReversed().map((former) => {
    const { ending, life, into, joined } = former;
    return { ...toWire(valueView(former)), ...defined({ ending, life, into }), joined };
  });
}

/** Validated by the facts policy; `requirePast` refuses future times. */
export function readFormerLine(
  line: z.infer<typeof formerLine>,
  requirePast: (field: string, time: UnixMs) => UnixMs,
): FormerValue {
  const { ttlSeconds: _, value, ...fact } = validateFact({ ...line, conversationId: line.conversation_id });
  const createdAt = requirePast("history", requireTime("history", line.created_at));
  const updatedAt = requirePast("history", requireTime("history", line.updated_at));
  requireFingerprint("history", line.fingerprint, Buffer.from(value));
  const { expires_at, ending, life, into, joined, writer } = line;
  return {
    ...{ ...fact, value: Buffer.from(value), createdAt, updatedAt, joined },
    ...(expires_at !== undefined && { expiresAt: requireTime("history", expires_at) }),
    ...writerFrom(writer),
    ...defined({ ending, life, into }),
  };
}
