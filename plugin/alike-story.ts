/** What a model is told of facts that the one it stored is like, retired, or repeats. */
import { isKnownTime, quotedKey, rfc3339, type StoredFact } from "../app/index.ts";

/** A sentence for each thing that may have to be put right, which the model decides. */
export function alikeStory({ superseded = [], sameAs = [], similar = [] }: StoredFact): string {
  const retired =
    superseded.length === 0 ? "" : ` It retired ${superseded.map((key) => quotedKey(key)).join(", ")}.`;
  const same =
    sameAs.length === 0
      ? ""
      : ` The same value is stored under ${sameAs.map((key) => quotedKey(key)).join(", ")}.`;
  if (similar.length === 0) return retired + same;
  const found = similar.map(({ key, value, updatedAt }) => {
    return `\n- ${quotedKey(key)}, ${isKnownTime(updatedAt) ? `stored ${rfc3339(updatedAt)}` : "stored before"}: ${quotedKey(value)}`;
  });
  const advice =
    " Similar facts are there; where this one corrects or replaces one of them, store it again with supersedes:";
  return `${retired}${same}${advice}${found.join("")}`;
}
