/** Folding: one spelling for letters that people type in different ways (width, case, accents). */

/** Latin, Greek and Cyrillic accents. Japanese voicing marks lie elsewhere: they tell words apart, so they stay. */
const ACCENTS = /[\u0300-\u036f]/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant
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

/** Lower case, compatibility forms unified, accents removed: "Ｇärtnerstraße" becomes "gartnerstrasse". */
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
 * Other spellings of a word with umlauts: "gärtner" may be stored as "gaertner", and the other way round.
 * Folded, without the word's own folding; empty for most words.
 */
export function umlautSpellings(word: string): readonly string[] {
  const lower = word.normalize("NFKC").toLowerCase();
  const own = fold(lower);
  const spellings = [fold(lower.replace(UMLAUT, (letter) => `${fold(letter)}e`)), own.replace(DIGRAPH, "$1")];
  return [...new Set(spellings)].filter((spelling) => spelling !== own);
}
