/** The sets of test/data about one person: facts, everyday questions, and near misses. */
import { z } from "zod";
import { half, readSet, text } from "./read-set.ts";

const fact = z.strictObject({ half, key: text, value: text, category: text.optional() });

/** `expect` is the key of the fact that answers. */
const answerable = z.strictObject({ half, kind: z.literal("answerable"), question: text, expect: text });

/**
 * No fact answers it. It asks for somebody else's, for something that the closest fact does not say, or uses a word of that fact in
 * another sense. `near` is the key of that fact.
 */
const unanswerable = z.strictObject({
  half,
  kind: z.enum(["other-person", "not-said", "other-sense"]),
  question: text,
  near: text,
});

const question = z.discriminatedUnion("kind", [answerable, unanswerable]);

/** All of `life` is held. */
export function readPersonalSet(name: "personal" | "life" = "personal") {
  return {
    facts: readSet(`${name}-facts`, fact),
    questions: readSet(`${name}-questions`, question),
  };
}
