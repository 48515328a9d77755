/** What clients receive for any failure. */
import * as z from "zod";
import { ERROR_CODES, type HelmdeckError } from "../../engine/index.ts";

export const errorReplySchema = z.object({
  error: z.enum(ERROR_CODES),
  message: z.string().meta({ description: "For a person: which field, which limit, what to do." }),
  details: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .meta({ description: "The message's facts, for programs." }),
});

export type ErrorReply = z.infer<typeof errorReplySchema>;

/** The envelope of every failure. A message of {@link HelmdeckError} never holds a stored value or a secret. */
export function errorReply({ code, message, details }: HelmdeckError): ErrorReply {
  return { error: code, message, ...(Object.keys(details).length > 0 && { details }) };
}
