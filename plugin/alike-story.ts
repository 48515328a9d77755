/** What a model is told of facts that the one it stored is like, retired, or repeats. */
import { ANSWER_LIMITS, harmlessBlock, rfc3339, type StoredFact } from "../app/index.ts";

/** A sentence for each thing that may have to be put right, which the model decides. */
export function alikeStory({ superseded = [], sameAs = [], similar = [] }: StoredFact): string {
  const retired = superseded.length === 0 ? "" : ` It retired ${superseded.map(quoted).join(", ")}.`;
  const same = sameAs.length === 0 ? "" : ` The same value stands under ${sameAs.map(quoted).join(", ")}.`;
  if (similar.length === 0) return retired + same;
  const found = similar.map(({ key, value, updatedAt }) => {
    return `\n- ${quoted(key)}, stored ${rfc3339(updatedAt)}: ${quoted(value)}`;
  });
  const advice =
    " Similar facts are there; where this one corrects or replaces one of them, store it again with supersedes:";
  return `${retired}${same}${advice}${found.join("")}`;
}

/** In quotes that no text can close, without characters that act on anything. */
export function quoted(value: string): string {
  const shown = harmlessBlock(value.slice(0, ANSWER_LIMITS.snippetCharacters));
  return JSON.stringify(shown.slice(0, ANSWER_LIMITS.snippetCharacters).toWellFormed());
}
