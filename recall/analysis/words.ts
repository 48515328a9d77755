/** Splitting text into the words that index and query are made of; identifiers stay whole as well as split. */
import { fold } from "./fold.ts";
import { hasUnspaced, splitByScript } from "./scripts.ts";

/** Letters and digits, joined by the characters that paths, URLs, keys and times are joined by. */
const RUN = /[\p{L}\p{N}\p{M}]+(?:[-_./:@#'’=+&%?\\~]{1,3}[\p{L}\p{N}\p{M}]+)*(?:\+\+|#)?/gu;
const ATOM = /[\p{L}\p{N}\p{M}]+/gu;
/** Most words of most texts; the rest of this file is for the others. */
const ORDINARY = /^[A-Za-z][a-z]*$/;
const PLAIN = /^[\p{L}\p{M}]+$/u;
const CAMEL = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+\p{N}*|\p{Lu}+\p{N}*|\p{N}+|[\p{L}\p{M}]+/gu;
const INNER_CAPITAL = /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u;
const AMOUNT = /^(\p{N}+)(\p{L}{1,3})$/u;
const ELISION = /^(\p{L}{1,2})['’](?=\p{L}{2})/u;
const CLITIC = /['’](?:s|t|d|m|ll|re|ve)$/iu;
const DIGIT = /\p{N}/u;

/** Terms longer than this are cut: nobody types them, and a pasted blob must not fill the dictionary. */
const LONGEST = 64;

const NO_PARTS: readonly string[] = [];

/** One word of a text, folded but not stemmed. */
export interface Word {
  readonly text: string;
  /** As written, for its capitals. */
  readonly raw: string;
  /** Where it begins in the text, in UTF-16 units. */
  readonly start: number;
  /** Parts of a camelCase name or an amount ("6GB": 6, gb), searchable beside the whole. */
  readonly parts: readonly string[];
  /** A run of a script without spaces, to be cut into pairs. */
  readonly unspaced: boolean;
  /** Set on the first word of a joined name: all of it, joiners removed ("slides.narrate": slidesnarrate). */
  readonly joined?: string;
  /** Position of the joined run this word came from; words of one name share it. */
  readonly run: number;
}

/** The words of a text in order. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  let run = 0;
  for (const match of text.matchAll(RUN)) {
    appendRun(words, match[0], match.index, run);
    run += 1;
  }
  return words;
}

function appendRun(words: Word[], raw: string, start: number, run: number): void {
  if (ORDINARY.test(raw)) {
    const text = raw.slice(0, LONGEST).toLowerCase();
    words.push({ text, raw, start, run, parts: NO_PARTS, unspaced: false });
    return;
  }
  if (PLAIN.test(raw) && !hasUnspaced(raw)) {
    words.push(wordOf(raw, start, run));
    return;
  }
  const bare = raw.replace(CLITIC, "");
  const offset = ELISION.exec(bare)?.[0].length ?? 0;
  const body = bare.slice(offset);
  const first = words.length;
  for (const atom of body.matchAll(ATOM)) appendAtom(words, atom[0], start + offset + atom.index, run);
  const name = words[first];
  if (name !== undefined && isName(body, words.length - first))
    words[first] = { ...name, joined: joinedForm(body) };
}

function appendAtom(words: Word[], atom: string, start: number, run: number): void {
  if (!hasUnspaced(atom)) {
    words.push(wordOf(atom, start, run));
    return;
  }
  let offset = 0;
  for (const piece of splitByScript(atom)) {
    words.push({ ...wordOf(piece, start + offset, run), unspaced: hasUnspaced(piece) });
    offset += piece.length;
  }
}

function wordOf(raw: string, start: number, run: number): Word {
  const text = fold(raw).slice(0, LONGEST);
  return { text, raw, start, run, parts: partsOf(raw), unspaced: false };
}

function partsOf(raw: string): readonly string[] {
  const amount = AMOUNT.exec(raw);
  if (amount !== null) return [fold(amount[1] ?? ""), fold(amount[2] ?? "")];
  if (!INNER_CAPITAL.test(raw) || raw.length > LONGEST) return NO_PARTS;
  return (raw.match(CAMEL) ?? []).map(fold);
}

/** Several words held together by something other than an apostrophe, or a language name such as C++. */
function isName(body: string, wordCount: number): boolean {
  if (body.length > 2 * LONGEST || hasUnspaced(body)) return false;
  return wordCount > 1 ? !/['’]/u.test(body) : /[+#]$/u.test(body);
}

/** One form for retry_backoff, retry-backoff and retryBackoff; digits keep a point between them (14:00 is not 1400). */
function joinedForm(body: string): string {
  const folded = fold(body).slice(0, LONGEST);
  return folded.replace(/[^\p{L}\p{N}\p{M}+#]+/gu, (_, at: number) =>
    DIGIT.test(folded[at - 1] ?? "") && DIGIT.test(folded.slice(at).replace(/^[^\p{L}\p{N}]+/u, "")[0] ?? "")
      ? "."
      : "",
  );
}
