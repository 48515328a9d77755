/** The shapes of embedding services' answers; unknown fields are ignored. */
import * as z from "zod/mini";
import { type Asked, unusable } from "./service-failures.ts";

export const versionAnswer = z.object({ version: z.string() });
export const tagsAnswer = z.object({ models: z.array(z.object({ name: z.string() })) });
/** Numbers are checked in check-vectors.ts, which has a message for each problem. */
export const embedAnswer = z.object({ embeddings: z.array(z.array(z.unknown())) });
export const pullLine = z.object({
  status: z.optional(z.string()),
  digest: z.optional(z.string()),
  total: z.optional(z.number()),
  completed: z.optional(z.number()),
  error: z.optional(z.string()),
});
export const openAiAnswer = z.object({
  data: z.array(z.object({ index: z.number(), embedding: z.array(z.unknown()) })),
  /** Some services do not count tokens, or count them differently; anything but a number is ignored. */
  usage: z.catch(z.optional(z.object({ prompt_tokens: z.optional(z.number()) })), undefined),
});

/** The answer, validated by its schema; `embeddings_unavailable` without any of its content otherwise. */
export function checkAnswer<Schema extends z.ZodMiniType>(
  schema: Schema,
  answer: unknown,
  asked: Asked,
): z.infer<Schema> {
  const checked = z.safeParse(schema, answer);
  if (!checked.success) throw unusable(asked, "something that does not match the API");
  return checked.data;
}
