/** A client's identity according to the server, and the state of its memory: schemas for REST. */
import * as z from "zod";
import { expiringSchema } from "../operations/overview.ts";
import { rfc3339Schema } from "./rfc3339-schema.ts";

export const callerReplySchema = z.object({
  subject: z.string().meta({ description: "The owner of the memory: the token's sub." }),
  authenticated: z.boolean().meta({ description: "Whether a token proves it." }),
  scopes: z.array(z.string()),
  expires_at: rfc3339Schema("When the token expires; left out when it does not.").optional(),
});

export const ownStatusReplySchema = z.object({
  mode: z.enum(["keyword", "hybrid"]).meta({ description: "How it is currently searched." }),
  facts: z.int().min(0),
  audit_rows: z.int().min(0).meta({ description: "Records of runs and tool calls." }),
  expiring: expiringSchema,
});

export type CallerReply = z.infer<typeof callerReplySchema>;
export type OwnStatusReply = z.infer<typeof ownStatusReplySchema>;
