/** A server's public health: schemas for REST. */
import * as z from "zod";
import { errorReplySchema } from "./error-schema.ts";

export const readinessReplySchema = z.object({
  status: z.enum(["ready", "unavailable"]),
  memory: z.enum(["ready", "read_only", "ephemeral", "unavailable"]),
  error: errorReplySchema.shape.error.optional(),
  message: z.string().optional().meta({ description: "Why memory does not work, or a note about it." }),
});

export const versionReplySchema = z.object({ version: z.string() });

export type ReadinessReply = z.infer<typeof readinessReplySchema>;
