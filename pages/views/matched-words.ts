/** Finds a query's words in a text, to show why it was found. */
import { type Html, html } from "../html.ts";

const WORDS = /([\p{L}\p{M}\p{N}]+)/u;
/** Stop words. */
const EVERYDAY = new Set(
  "a an and are as at be been by can did do does for from has have how i in is it me my of on or our so that the their them there these they this to us was we were what when where which who why will with you your".split(
    " ",
  ),
);
const SHARED_LETTERS = 4;
const SHARED_SHARE = 0.65;

/** The query's words in lower case, without stop words unless there are no others. */
export function askedWords(query: string): ReadonlySet<string> {
  const words = query.toLowerCase().match(new RegExp(WORDS, "gu")) ?? [];
  const telling = words.filter((word) => !EVERYDAY.has(word));
  return new Set(telling.length > 0 ? telling : words);
}

/** The query word that this word equals or is another form of. */
function askedAs(word: string, asked: ReadonlySet<string>): string | undefined {
  const lower = word.toLowerCase();
  if (asked.has(lower)) return lower;
  return [...asked].find((other) => isOtherForm(lower, other));
}

function isOtherForm(word: string, other: string): boolean {
  let shared = 0;
  while (shared < word.length && word[shared] === other[shared]) shared += 1;
  return shared >= SHARED_LETTERS && shared >= SHARED_SHARE * Math.max(word.length, other.length);
}

/** The text with the query's words marked. */
export function marked(text: string, asked: ReadonlySet<string>): readonly Html[] {
  return text
    .split(WORDS)
    .map((part, at) =>
      at % 2 === 1 && askedAs(part, asked) !== undefined ? html`<mark>${part}</mark>` : html`${part}`,
    );
}

/** Each query word found in the text, with the form found there. */
export function matches(text: string, asked: ReadonlySet<string>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [word] of text.matchAll(new RegExp(WORDS, "gu"))) {
    const as = askedAs(word, asked);
    if (as !== undefined && (!found.has(as) || word.toLowerCase() === as)) found.set(as, word.toLowerCase());
  }
  return found;
}
