/** Folding: one spelling for letters that differ in width, case or accents. */

/** Latin, Greek and Cyrillic accents. Japanese voicing marks are outside this range and stay: they distinguish words. */
const ACCENTS = /[\u0300-\u036f]/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches all of ASCII
const ASCII = /^[\x00-\x7f]*$/;
const LIGATURES: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ı: "i",
};
const LIGATURE = /[ßæœøłđı]/gu;

/** Lower-cases, normalises compatibility forms and removes accents: "Ｇärtnerstraße" becomes "gartnerstrasse". */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const lower = text.normalize("NFKC").toLowerCase();
  return lower
    .normalize("NFD")
    .replace(ACCENTS, "")
    .normalize("NFC")
    .replace(LIGATURE, (letter) => LIGATURES[letter] ?? letter);
}

const UMLAUT = /[äöü]/gu;
const DIGRAPH = /([aou])e/gu;

/**
 * Other spellings of a word with umlauts: "gärtner" may be stored as "gaertner", and vice versa. Folded; excludes the word's own
 * folding; empty for most words.
 */
export function umlautSpellings(word: string): readonly string[] {
  const lower = word.normalize("NFKC").toLowerCase();
  const own = fold(lower);
  const spellings = [fold(lower.replace(UMLAUT, (letter) => `${fold(letter)}e`)), own.replace(DIGRAPH, "$1")];
  return [...new Set(spellings)].filter((spelling) => spelling !== own);
}
