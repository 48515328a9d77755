/** A key for what a person asks to have remembered without naming it: its first words that say something. */
import { cutText } from "../../engine/index.ts";
import type { FactView } from "../memory.ts";

const MOST_WORDS = 4;
const MOST_CHARACTERS = 40;
/** What a text of emoji alone is called. */
const NAMELESS = "note";
/** Words that tell one fact from another badly, in the language that most keys are in; others make a longer key. */
const EMPTY_WORDS = new Set(
  "a an the i we you he she it they my our your his her its their me us is are was were be been am do does did have has had will would can could should to of in on at for from with by as and or but if so that this these those there not always please remember".split(
    " ",
  ),
);

/**
 * `i always deploy via Konflux` → `deploy-via-konflux`. A key that another value has gets a number, so that nothing is
 * replaced unasked; the same value keeps its key. `factAt`: what stands under a key.
 */
export async function keyForText(
  text: string,
  factAt: (key: string) => Promise<Pick<FactView, "value"> | undefined>,
): Promise<string> {
  const name = nameFor(text);
  for (let number = 1; ; number += 1) {
    const key = number === 1 ? name : `${name}-${number}`;
    const there = await factAt(key);
    if (there === undefined || there.value === text) return key;
  }
}

function nameFor(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const telling = words.filter((word) => !EMPTY_WORDS.has(word));
  let name = "";
  for (const word of (telling.length > 0 ? telling : words).slice(0, MOST_WORDS)) {
    const longer = name === "" ? cutText(word, MOST_CHARACTERS) : `${name}-${word}`;
    if (longer.length > MOST_CHARACTERS) break;
    name = longer;
  }
  return name === "" ? NAMELESS : name;
}
