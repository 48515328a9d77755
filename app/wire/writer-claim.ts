/** Who writes behind a token, by the word of the program that has it: described for REST. What it counts for is the server's to decide. */
import * as z from "zod";
import { defined, type Writer } from "../../engine/index.ts";
import { storeRequestSchema } from "./memory-schemas.ts";

const name = z.string().regex(/^[\w-]{1,64}$/, "must be 1 to 64 letters, digits, _ or -");

export const writerClaimSchema = z
  .strictObject({
    agent: name.optional().meta({ description: "The agent that writes." }),
    session_kind: name.optional().meta({ description: "Such as direct, group, subagent or cron." }),
  })
  .meta({
    description:
      "Who writes, by the word of a host's plugin. It counts with the scope record alone, beside the token's subject; else it is passed over.",
  });

export const hostStoreRequestSchema = storeRequestSchema.extend({ writer: writerClaimSchema.optional() });

export type WriterClaim = z.infer<typeof writerClaimSchema>;

/** Undefined where there is nothing to say, or a name has another form. */
export function claimOf(writer: Writer | undefined): WriterClaim | undefined {
  const { agent, sessionKind: session_kind } = writer ?? {};
  return writerClaimSchema.safeParse(defined({ agent, session_kind })).data;
}
