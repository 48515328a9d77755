/** Splits text into words for index and query; identifiers are kept whole and also split. */
import { fold } from "./fold-letters.ts";
import { hasUnspaced, splitByScript } from "./scripts.ts";

/** Letters and digits, joined by the characters of paths, URLs, keys and times. */
const RUN = /[\p{L}\p{N}\p{M}]+(?:[-_./:@#'’=+&%?\\~]{1,3}[\p{L}\p{N}\p{M}]+)*(?:\+\+|#)?/gu;
const ATOM = /[\p{L}\p{N}\p{M}]+/gu;
/** Matches most words of most texts. */
const ORDINARY = /^[A-Za-z][a-z]*$/;
const PLAIN = /^[\p{L}\p{M}]+$/u;
const CAMEL = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+\p{N}*|\p{Lu}+\p{N}*|\p{N}+|[\p{L}\p{M}]+/gu;
const INNER_CAPITAL = /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u;
const AMOUNT = /^(\p{N}+)(\p{L}{1,3})$/u;
const ELISION = /^(\p{L}{1,2})['’](?=\p{L}{2})/u;
const CLITIC = /['’](?:s|t|d|m|ll|re|ve)$/iu;
const DIGIT = /\p{N}/u;

/** Longer terms are truncated: nobody types them, and a pasted blob must not fill the dictionary. */
const LONGEST = 64;

/** Longer names are found by their single words. */
const LONGEST_NAME = 4;

const NO_PARTS: readonly string[] = [];

/** One word of a text, folded but not stemmed. */
export interface Word {
  readonly text: string;
  /** As written, with its capitals. */
  readonly raw: string;
  /** Parts of a camelCase name or an amount ("6GB": 6, gb), searchable in addition to the whole. */
  readonly parts: readonly string[];
  /** A run of a script without spaces, still to be split into pairs. */
  readonly unspaced: boolean;
  /** Set on the first word of a joined name: the whole name without joiners ("slides.narrate": slidesnarrate). */
  readonly joined?: string;
  /** Position of the run that this word came from; words of one name share it. */
  readonly run: number;
}

export function wordsOf(text: string): readonly Word[] {
  return runsOf(text).flatMap((run, number) => wordsOfRun(run, number));
}

/** The joined runs of a text, as written. */
export function runsOf(text: string): readonly string[] {
  return text.match(RUN) ?? [];
}

/** The joined runs of a text, each with its position. */
export function placedRunsOf(text: string): readonly { readonly run: string; readonly at: number }[] {
  return [...text.matchAll(RUN)].map(({ 0: run, index: at }) => ({ run, at }));
}

/** Whether this is a plain word, whose only term is its stem. */
export function isOrdinary(run: string): boolean {
  return ORDINARY.test(run) && run.length <= LONGEST;
}

/** The words of one run. */
export function wordsOfRun(raw: string, run: number): readonly Word[] {
  if (PLAIN.test(raw) && !hasUnspaced(raw)) return [wordOf(raw, run)];
  const body = raw.replace(CLITIC, "").replace(ELISION, "");
  const words = (body.match(ATOM) ?? []).flatMap((atom) => wordsOfAtom(atom, run));
  const [first, ...rest] = words;
  return first !== undefined && isName(body, words.length)
    ? [{ ...first, joined: joinedForm(body) }, ...rest]
    : words;
}

function wordsOfAtom(atom: string, run: number): readonly Word[] {
  if (!hasUnspaced(atom)) return [wordOf(atom, run)];
  return splitByScript(atom).map((piece) => ({ ...wordOf(piece, run), unspaced: hasUnspaced(piece) }));
}

function wordOf(raw: string, run: number): Word {
  return { text: fold(raw).slice(0, LONGEST), raw, run, parts: partsOf(raw), unspaced: false };
}

function partsOf(raw: string): readonly string[] {
  const amount = AMOUNT.exec(raw);
  if (amount !== null) return [fold(amount[1] ?? ""), fold(amount[2] ?? "")];
  if (!INNER_CAPITAL.test(raw) || raw.length > LONGEST) return NO_PARTS;
  return (raw.match(CAMEL) ?? []).map(fold);
}

/**
 * A few joined words, such as e-mail, 14:00 or slides.narrate, or a language such as C++. Longer paths are found by their parts.
 */
function isName(body: string, wordCount: number): boolean {
  if (wordCount > LONGEST_NAME || /['’/\\]/u.test(body) || hasUnspaced(body)) return false;
  return wordCount > 1 || /[+#]$/u.test(body);
}

/** One form for retry_backoff, retry-backoff and retryBackoff. Digits keep a point between them (14:00 is not 1400). */
function joinedForm(body: string): string {
  const folded = fold(body).slice(0, LONGEST);
  return folded.replace(/[^\p{L}\p{N}\p{M}+#]+/gu, (_, at: number) =>
    DIGIT.test(folded[at - 1] ?? "") && DIGIT.test(folded.slice(at).replace(/^[^\p{L}\p{N}]+/u, "")[0] ?? "")
      ? "."
      : "",
  );
}
