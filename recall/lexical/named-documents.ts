/** Finds documents that a question names by key, docid or path. */
import type { IndexedDocument } from "./indexed-document.ts";

const AROUND = /^[("'`<]+|[)"'`>.,;:!?]+$/gu;
/** A compound such as "projects/atlas/deploy": a plain word of a sentence does not count as a key, even when a key equals it. */
const JOINED = /\p{L}[^\p{L}]+\p{L}/u;

/** The possible names in a question, lower-cased: the whole question, and each compound word. */
export function namesIn(question: string): ReadonlySet<string> {
  const words = question.split(/\s+/).map((word) => word.replace(AROUND, ""));
  return new Set(
    [question.trim(), ...words.filter((word) => JOINED.test(word))].map((name) => name.toLowerCase()),
  );
}

export function isNamed({ key, docid, path }: IndexedDocument, names: ReadonlySet<string>): boolean {
  return [key, docid, path].some((name) => names.has(name.toLowerCase()));
}
