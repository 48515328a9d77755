/** Turns stored text into index terms: the words in order, plus terms for names, their parts and single characters. */
import { otherTermOf, termOf } from "./english.ts";
import { isOrdinary, pairsAndSingles, runsOf, type Word, wordsOfRun } from "./words.ts";

/** Terms as texts, or as what the caller keeps for each. */
export interface TextTerms<Term = string> {
  /** In text order; phrases and distances are measured on these. */
  readonly ordered: readonly Term[];
  /** Joined names, parts of camelCase names, single characters of unspaced scripts, other readings of a form. */
  readonly beside: readonly Term[];
}

const MOST_REMEMBERED = 20_000;

/** Analyses text and caches the terms of words. Discard it after a batch: the cache may hold words of a fact that is forgotten later. */
export class TextAnalyser<Term = string> {
  readonly #read: (term: string) => Term;
  /** By word, as written or folded: the term of its form, and of its other reading. */
  readonly #forms = new Map<string, readonly Term[]>();
  readonly #labels = new Map<string, TextTerms<Term>>();

  /** @param read called for each term of a text, at least once in the life of this analyser */
  constructor(read: (term: string) => Term) {
    this.#read = read;
  }

  termsOf(text: string): TextTerms<Term> {
    const ordered: Term[] = [];
    const beside: Term[] = [];
    for (const run of runsOf(text)) {
      if (isOrdinary(run))
        append(this.#forms.get(run) ?? this.#remember(run, run.toLowerCase()), ordered, beside);
      else for (const word of wordsOfRun(run, 0)) this.#append(word, ordered, beside);
    }
    return { ordered, beside };
  }

  /** The same for a category or tag, which many entries share. */
  termsOfLabel(label: string): TextTerms<Term> {
    return this.#labels.get(label) ?? remember(this.#labels, label, this.termsOf(label));
  }

  #append(word: Word, ordered: Term[], beside: Term[]): void {
    if (word.joined !== undefined) beside.push(this.#read(termOf(word.joined)));
    if (word.unspaced) {
      const { pairs, singles } = pairsAndSingles(word.text);
      for (const one of pairs.length > 0 ? pairs : singles) ordered.push(this.#read(one));
      if (pairs.length > 0) for (const single of singles) beside.push(this.#read(single));
      return;
    }
    append(this.#forms.get(word.text) ?? this.#remember(word.text, word.text), ordered, beside);
    for (const part of word.parts) beside.push(this.#read(termOf(part)));
  }

  #remember(word: string, form: string): readonly Term[] {
    const other = otherTermOf(form);
    const terms = [termOf(form), ...(other === undefined ? [] : [other])].map(this.#read);
    return remember(this.#forms, word, terms);
  }
}

function remember<Known>(known: Map<string, Known>, text: string, what: Known): Known {
  if (known.size >= MOST_REMEMBERED) known.clear();
  known.set(text, what);
  return what;
}

function append<Term>([term, other]: readonly Term[], ordered: Term[], beside: Term[]): void {
  if (term !== undefined) ordered.push(term);
  if (other !== undefined) beside.push(other);
}
