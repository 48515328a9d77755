/** Compares texts: in one order for every locale, and in one spelling of each letter. */

/** By UTF-16 code units. */
export function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The 31st and further marks of one letter: no writing has as many (UAX #15, stream-safe text). Two marks of Japanese are letters. */
const MORE_MARKS = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;

/** Without {@link MORE_MARKS}: the platform sorts a letter's marks in quadratic time, and anybody may have written the text. */
export function normalForm(text: string, form: "NFC" | "NFD" | "NFKC" | "NFKD"): string {
  return text.replace(MORE_MARKS, "$1").normalize(form);
}
