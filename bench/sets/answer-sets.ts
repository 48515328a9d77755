/** The sets of test/data about whole answers: names alone, two topics at once, what has changed, and what is alike and both true. */
import { z } from "zod";
import { half, readSet, text } from "./read-set.ts";

const fact = z.strictObject({ key: text, value: text });
const language = z.enum(["de", "es", "fr"]).optional();

/** `name` stands in the fact: in its value or, of a few, only in its key. */
export function readNames() {
  return {
    facts: readSet("names-facts", z.strictObject({ key: text, value: text, name: text })),
    questions: readSet("names-questions", z.strictObject({ half, name: text, question: text })),
  };
}

/** `expect`: the keys of the two facts, which are in the everyday, the natural and the personal set. */
export function readTwoTopics() {
  return readSet("two-topics", z.strictObject({ half, question: text, expect: z.tuple([text, text]) }));
}

/** Each text may be the newer one: the other is then what it was before. */
export function readOldAndNew() {
  const kind = z.enum(["date", "tool", "number", "place", "state", "substitution"]);
  return readSet("old-new", z.strictObject({ half, kind, language, old: fact, new: fact, question: text }));
}

/** The question asks for `a`. */
export function readBothTrue() {
  const kind = z.enum(["thing", "person", "time", "list", "scope", "place"]);
  return readSet("both-true", z.strictObject({ half, kind, language, a: fact, b: fact, question: text }));
}
