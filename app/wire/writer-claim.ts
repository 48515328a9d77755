/** The writer as claimed by the program that holds a token: schemas for REST. The server decides whether it counts. */
import * as z from "zod";
import { defined } from "../../engine/defined.ts";
import type { Writer } from "../../engine/store/writer.ts";

const name = z.string().regex(/^[\w-]{1,64}$/, "must be 1 to 64 letters, digits, _ or -");

export const writerClaimSchema = z
  .strictObject({
    agent: name.optional().meta({ description: "The agent that writes." }),
    session_kind: name.optional().meta({ description: "Such as direct, group, subagent or cron." }),
  })
  .meta({
    description:
      "The writer, as claimed by a host's plugin. It counts only with the scope record, in addition to the token's subject; otherwise it is ignored.",
  });

export type WriterClaim = z.infer<typeof writerClaimSchema>;

/** Undefined when there is nothing to claim, or a name is invalid. */
export function claimOf(writer: Writer | undefined): WriterClaim | undefined {
  const { agent, sessionKind: session_kind } = writer ?? {};
  return writerClaimSchema.safeParse(defined({ agent, session_kind })).data;
}
