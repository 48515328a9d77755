/** Who a client is to the server that it asks, and how its memory stands: described for REST. */
import * as z from "zod";
import { rfc3339Schema } from "./rfc3339-schema.ts";
import { myMemoryReplySchema } from "./view-schemas.ts";

export const callerReplySchema = z.object({
  subject: z.string().meta({ description: "Whose memory it is: the token's sub." }),
  authenticated: z.boolean().meta({ description: "A token proves it." }),
  scopes: z.array(z.string()),
  expires_at: rfc3339Schema("When the token ends; left out where there is none.").optional(),
});

export const ownStatusReplySchema = z.object({
  mode: z.enum(["keyword", "hybrid"]).meta({ description: "How it is searched now." }),
  facts: z.int().min(0),
  audit_rows: z.int().min(0).meta({ description: "Records of runs and tool calls." }),
  expiring: myMemoryReplySchema.shape.expiring,
});

export const revisionReplySchema = z.object({
  revision: z
    .int()
    .meta({ description: "Grows with every change of what the caller's facts and runs show." }),
});

export type CallerReply = z.infer<typeof callerReplySchema>;
export type OwnStatusReply = z.infer<typeof ownStatusReplySchema>;
