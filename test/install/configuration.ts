/** Arbitrary JSON for `memory` in a configuration, including hostile keys. */
import fc from "fast-check";
import { type Json, objectOf } from "../../install/openclaw-json.ts";

const key = fc.constantFrom(
  "search",
  "provider",
  "model",
  "remote",
  "baseUrl",
  "apiKey",
  "citations",
  "__proto__",
);
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>("ollama", "openai", true, 7),
    fc.array(fc.constantFrom<Json>("a", "b"), { maxLength: 2 }),
    fc.array(fc.tuple(key, tie("tree")), { maxLength: 4 }).map((entries) => objectOf(entries)),
  ),
}));
export const memory = fc.option(
  fc.array(fc.tuple(key, tree), { maxLength: 4 }).map((entries) => objectOf(entries)),
  { nil: undefined },
);
