/** Tells a model which facts the stored one retired, repeats or resembles. */

import type { StoredFact } from "../app/memory.ts";
import { isKnownTime } from "../engine/known-time.ts";
import { quotedKey } from "../engine/projections/frame.ts";
import { rfc3339 } from "../engine/rfc3339.ts";

/** One sentence for each thing that may need correction; the model decides. */
export function similarFactsText({ superseded = [], sameAs = [], similar = [] }: StoredFact): string {
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
    " Similar facts exist; if this one corrects or replaces one of them, store it again with supersedes:";
  return `${retired}${same}${advice}${found.join("")}`;
}
