/** `node bench/check-paraphrases.ts`: lists every pair of the paraphrase set whose question and fact share a word. Exits with 1 if there are any. */

import { DEFAULT_CATEGORY } from "../engine/facts/facts-policy.ts";
import { type Paraphrase, readParaphraseSet } from "./recall/paraphrase-set.ts";
import { type SharedWords, sharedWords } from "./recall/shared-words.ts";

export interface SharingPair extends SharedWords {
  readonly pair: Paraphrase;
}

/** The pairs that break the set's rule, with the words that they share. Key and category count too, because keyword search sees them. */
export function sharingPairs(pairs: readonly Paraphrase[]): readonly SharingPair[] {
  const checked = pairs.map((pair) => ({
    pair,
    ...sharedWords(pair.question, `${pair.key} ${pair.fact} ${DEFAULT_CATEGORY}`),
  }));
  return checked.filter(
    ({ terms, stems, lookalikes }) => terms.length + stems.length + lookalikes.length > 0,
  );
}

function main(): void {
  const { pairs } = readParaphraseSet();
  const sharing = sharingPairs(pairs);
  for (const { pair, terms, stems, lookalikes } of sharing) {
    console.error(`${pair.id} ${pair.key}: ${[...terms, ...stems, ...lookalikes].join(", ")}`);
  }
  console.log(`${pairs.length} pairs, ${sharing.length} of them share a word.`);
  if (sharing.length > 0) process.exitCode = 1;
}

if (import.meta.main) main();
