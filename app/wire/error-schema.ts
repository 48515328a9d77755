/** The schema of a failure. */
import * as z from "zod";
import { ERROR_CODES } from "../../engine/errors.ts";

export const errorReplySchema = z.object({
  error: z.enum(ERROR_CODES),
  message: z.string().meta({ description: "For a person: which field, which limit, what to do." }),
  details: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .meta({ description: "The details of the message, for programs." }),
});

export type ErrorReply = z.infer<typeof errorReplySchema>;
