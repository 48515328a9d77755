/** The set of pairs of test/data: two facts that contradict each other, say the same, or are merely near. */
import { z } from "zod";
import { half, readSet, text } from "./read-set.ts";

/** `stored` is the day on which somebody stored it. The two keys of a pair differ, since a store under the same key replaces. */
const fact = z.strictObject({ key: text, value: text, stored: z.iso.date() });

const pair = <const Label extends string, const Kinds extends readonly [string, ...string[]]>(
  label: Label,
  kinds: Kinds,
) => z.strictObject({ half, label: z.literal(label), kind: z.enum(kinds), a: fact, b: fact });

/** `kind` says what contradicts, how the same is said otherwise, or why both can be true. */
const anyPair = z.discriminatedUnion("label", [
  pair("contradict", ["number", "date", "name", "negation", "value"]),
  pair("same", ["wording", "notation"]),
  pair("near", ["attribute", "list", "scope", "person", "time"]),
]);

export function readPairs() {
  return readSet("pairs", anyPair);
}
