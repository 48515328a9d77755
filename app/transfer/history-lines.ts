/** The history of a fact in a line of an export: written where it is asked for, and read strictly. */
import * as z from "zod/mini";
import {
  defined,
  type FormerValue,
  fingerprintOf,
  invalidField,
  type UnixMs,
  validateFact,
} from "../../engine/index.ts";
import { formerView } from "../history.ts";
import { formerReply } from "../wire/history-replies.ts";
import { readTime } from "./transfer-times.ts";

/** Of a life: as it stands in an export, where it only has to differ from others. */
const LIFE = /^[\w-]{1,64}$/;

export const formerLine = z.strictObject({
  key: z.string(),
  value: z.string(),
  category: z.string(),
  tags: z.array(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
  expires_at: z.exactOptional(z.string()),
  fingerprint: z.exactOptional(z.string()),
  writer: z.exactOptional(
    z.strictObject({
      surface: z.string(),
      agent: z.exactOptional(z.string()),
      session_kind: z.exactOptional(z.string()),
    }),
  ),
  life: z.exactOptional(z.string().check(z.regex(LIFE))),
  into: z.exactOptional(z.string().check(z.regex(LIFE))),
  joined: z.boolean(),
});

/** The oldest first. */
export function historyLine(shown: readonly FormerValue[]): readonly object[] {
  return shown.toReversed().map((former) => {
    const { life, into, joined } = former;
    return { ...formerReply(formerView(former)), ...defined({ life, into }), joined };
  });
}

/** Each as the facts policy has it; `requirePast` refuses what lies in the future. */
export function readFormerLine(
  line: z.infer<typeof formerLine>,
  requirePast: (field: string, time: UnixMs) => UnixMs,
): FormerValue {
  const { key, value, category, tags } = validateFact(line);
  const createdAt = requirePast("history", requireTime(line.created_at));
  const updatedAt = requirePast("history", requireTime(line.updated_at));
  if (line.fingerprint !== undefined && line.fingerprint !== fingerprintOf(Buffer.from(value))) {
    throw invalidField("history", "holds a fingerprint that does not fit its value: one of them was changed");
  }
  const { expires_at, life, into, joined, writer } = line;
  return {
    ...{ key, value: Buffer.from(value), category, tags, createdAt, updatedAt, joined },
    ...(expires_at !== undefined && { expiresAt: requireTime(expires_at) }),
    ...(writer && { writer: { surface: writer.surface, ...writerDetails(writer) } }),
    ...defined({ life, into }),
  };
}

function writerDetails({
  agent,
  session_kind: sessionKind,
}: NonNullable<z.infer<typeof formerLine>["writer"]>) {
  return defined({ agent, sessionKind });
}

function requireTime(text: string): UnixMs {
  const time = readTime(text);
  if (time === undefined) throw invalidField("history", "holds a time that is none of RFC 3339");
  return time;
}
