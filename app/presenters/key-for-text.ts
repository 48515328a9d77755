/** Derives a key from a text without one: its first meaningful words. */
import { cutText } from "../../engine/projections/frame.ts";
import type { FactView } from "../memory.ts";

const MOST_WORDS = 4;
const MOST_CHARACTERS = 40;
/** The key for a text without letters, such as emoji. */
const NAMELESS = "note";
/** Words that do not help to tell facts apart, in the most common language; in other languages keys are longer. */
const EMPTY_WORDS = new Set(
  "a an the i we you he she it they my our your his her its their me us is are was were be been am do does did have has had will would can could should to of in on at for from with by as and or but if so that this these those there not always please remember".split(
    " ",
  ),
);

/**
 * `i always deploy via Konflux` → `deploy-via-konflux`. A key in use by another value gets a number, so that nothing is replaced
 * unasked; the same value keeps its key. `factAt` reads the fact with a key.
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
