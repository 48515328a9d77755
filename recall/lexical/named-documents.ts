/** Questions that name a document outright: its key, docid or path. */
import type { IndexedDocument } from "./indexed-document.ts";

const AROUND = /^[("'`<]+|[)"'`>.,;:!?]+$/gu;
/** More than letters, as in "projects/atlas/deploy": a plain word of a sentence is no key, even where one is called so. */
const JOINED = /\p{L}[^\p{L}]+\p{L}/u;

/** What in a question may be such a name, in lower case: all of it, and each of its joined words. */
export function namesIn(question: string): ReadonlySet<string> {
  const words = question.split(/\s+/).map((word) => word.replace(AROUND, ""));
  return new Set(
    [question.trim(), ...words.filter((word) => JOINED.test(word))].map((name) => name.toLowerCase()),
  );
}

export function isNamed({ key, docid, path }: IndexedDocument, names: ReadonlySet<string>): boolean {
  return [key, docid, path].some((name) => names.has(name.toLowerCase()));
}
