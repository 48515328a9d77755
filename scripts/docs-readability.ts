/**
 * Measures the readability of each page: Flesch reading ease (0 to 100; above 60 is plain English) and sentence length.
 *
 *   npm run -s docs:readability [-- FILE…]
 *
 * Code, tables, headings and HTML are excluded.
 */
import { flesch } from "flesch";
import { syllable } from "syllable";
import { markdown, type Page, readPages } from "./docs-pages.ts";

/** Shorter pages give no meaningful score. */
const LEAST_WORDS = 40;

export interface Readability {
  readonly file: string;
  readonly words: number;
  readonly wordsPerSentence: number;
  readonly ease: number;
}

function main(wanted: readonly string[]): void {
  const pages = readPages().filter(({ file }) => wanted.length === 0 || wanted.includes(file));
  const measured = pages.map(readabilityOf).filter(({ words }) => words >= LEAST_WORDS);
  console.log(" ease  words/sentence   words  page");
  for (const { file, words, wordsPerSentence, ease } of measured.toSorted((a, b) => a.ease - b.ease)) {
    const columns = [
      ease.toFixed(0).padStart(5),
      wordsPerSentence.toFixed(1).padStart(14),
      `${words}`.padStart(6),
    ];
    console.log(`${columns.join("  ")}  ${file}`);
  }
}

export function readabilityOf({ file, text }: Page): Readability {
  const sentences = paragraphsOf(text).flatMap(sentencesOf);
  const words = sentences.flatMap(wordsOf);
  const counts = { sentence: sentences.length, word: words.length };
  const ease = flesch({ ...counts, syllable: words.reduce((sum, word) => sum + syllable(word), 0) });
  return { file, words: words.length, wordsPerSentence: words.length / Math.max(1, sentences.length), ease };
}

/** The text of paragraphs and list items; code in them counts as a word. */
function paragraphsOf(text: string): readonly string[] {
  const tokens = markdown.parse(text, {});
  const isProse = (at: number) => ["paragraph_open"].includes(tokens[at - 1]?.type ?? "");
  return tokens.flatMap(({ type, children }, at) =>
    type === "inline" && isProse(at) ? [(children ?? []).map(partOf).join("")] : [],
  );
}

function partOf({ type, content }: { readonly type: string; readonly content: string }): string {
  if (type === "text") return content;
  if (type === "code_inline") return "code";
  return type === "softbreak" || type === "hardbreak" ? " " : "";
}

function sentencesOf(paragraph: string): readonly string[] {
  const segments = new Intl.Segmenter("en", { granularity: "sentence" }).segment(paragraph);
  return [...segments].map(({ segment }) => segment).filter((sentence) => wordsOf(sentence).length > 0);
}

function wordsOf(sentence: string): readonly string[] {
  const segments = new Intl.Segmenter("en", { granularity: "word" }).segment(sentence);
  return [...segments].filter(({ isWordLike }) => isWordLike === true).map(({ segment }) => segment);
}

if (import.meta.main) main(process.argv.slice(2));
