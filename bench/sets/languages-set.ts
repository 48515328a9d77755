/** The set of six languages of test/data: facts, each asked for in other words of its language and, if that is not English, in English. */
import { z } from "zod";
import { half, readSet, text } from "./read-set.ts";

const language = z.enum(["en", "de", "es", "fr", "zh", "ja"]);

const fact = z.strictObject({
  half,
  language,
  key: text,
  value: text,
  question: text,
  english: text.optional(),
});

/** In the same memory, and asked for by nobody. */
const filler = z.strictObject({ language, key: text, value: text });

export function readLanguages() {
  return { facts: readSet("languages", fact), fillers: readSet("languages-fillers", filler) };
}
