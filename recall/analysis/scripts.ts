/** Scripts without spaces between words, and how a run of such text becomes overlapping terms. */

const UNSPACED_CLASS =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u30fc\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const ANY_UNSPACED = new RegExp(`[${UNSPACED_CLASS}]`, "u");
const UNSPACED_OR_OTHER = new RegExp(`[${UNSPACED_CLASS}]+|[^${UNSPACED_CLASS}]+`, "gu");

/** Whether some character belongs to a script without spaces. Korean counts: it has spaces, but its words carry endings. */
export function hasUnspaced(text: string): boolean {
  return ANY_UNSPACED.test(text);
}

/** Splits "日本語text" into the part without spaces and the rest, in order. */
export function splitByScript(text: string): readonly string[] {
  return text.match(UNSPACED_OR_OTHER) ?? [];
}

/** Each character and each pair of neighbours: "会议室" gives pairs 会议, 议室 and singles 会, 议, 室. */
export function pairsAndSingles(run: string): { readonly pairs: string[]; readonly singles: string[] } {
  const singles = [...run];
  const pairs = singles.slice(1).map((character, index) => `${singles[index]}${character}`);
  return { pairs, singles };
}

let segmenter: Intl.Segmenter | undefined;

/** The dictionary words of a run, as the platform's word breaker sees them. */
export function dictionaryWords(run: string): readonly string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  const words: string[] = [];
  for (const part of segmenter.segment(run)) if (part.isWordLike === true) words.push(part.segment);
  return words;
}
