/** Turns stored text into index terms: the words in order, plus terms for names, their parts and single characters. */
import { otherTermOf, termOf } from "./english.ts";
import { isOrdinary, pairsAndSingles, runsOf, type Word, wordsOfRun } from "./words.ts";

export interface TextTerms {
  /** In text order; phrases and distances are measured on these. */
  readonly ordered: readonly string[];
  /** Joined names, parts of camelCase names, single characters of unspaced scripts, other readings of a form. */
  readonly beside: readonly string[];
}

const MOST_REMEMBERED = 20_000;

/** Analyses text and caches stems. Discard it after a batch: the cache may hold words of a fact that is forgotten later. */
export class TextAnalyser {
  readonly #stems = new Map<string, string>();

  termsOf(text: string): TextTerms {
    const ordered: string[] = [];
    const beside: string[] = [];
    for (const run of runsOf(text)) {
      if (isOrdinary(run)) this.#appendForm(run.toLowerCase(), ordered, beside);
      else for (const word of wordsOfRun(run, 0)) this.#append(word, ordered, beside);
    }
    return { ordered, beside };
  }

  #append(word: Word, ordered: string[], beside: string[]): void {
    if (word.joined !== undefined) beside.push(this.#stem(word.joined));
    if (word.unspaced) {
      const { pairs, singles } = pairsAndSingles(word.text);
      ordered.push(...(pairs.length > 0 ? pairs : singles));
      if (pairs.length > 0) beside.push(...singles);
      return;
    }
    this.#appendForm(word.text, ordered, beside);
    for (const part of word.parts) beside.push(this.#stem(part));
  }

  #appendForm(form: string, ordered: string[], beside: string[]): void {
    ordered.push(this.#stem(form));
    const other = otherTermOf(form);
    if (other !== undefined) beside.push(other);
  }

  #stem(word: string): string {
    const known = this.#stems.get(word);
    if (known !== undefined) return known;
    const stem = termOf(word);
    if (this.#stems.size >= MOST_REMEMBERED) this.#stems.clear();
    this.#stems.set(word, stem);
    return stem;
  }
}
