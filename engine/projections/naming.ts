/**
 * Resolves the name of an entry: its path, key, docid, or a citation of one of these.
 *
 * Answers show an entry under all of these names, and people and models use any of them. A path has one reading. Other texts are
 * ambiguous: `deploy/preference` is the key of a fact, and the docid of the fact `preference` in the category `deploy`. So this
 * gives every reading, and the caller chooses by what exists.
 */
import { parseAuditKey } from "../audit/audit-keys.ts";
import { keyToLookUp } from "../facts/facts-policy.ts";
import { type CorpusPlace, citedPath, parseDocid, parsePath, withoutLines } from "./paths.ts";

/** A fact by its key alone, or an entry by its place in the corpus. */
export type EntryName =
  | { readonly origin: "fact"; readonly key: string; readonly category?: never }
  | CorpusPlace;

/** Every entry that a text may name, without duplicates, the exact key first. Empty when no entry can have such a name. */
export function entriesNamedBy(text: string): readonly EntryName[] {
  const document = parsePath(citedPath(text));
  if (document !== undefined) return [document];
  const docids = new Set([text, withoutLines(text)]);
  return [...keyNamed(text), ...[...docids].flatMap(placeNamed), ...runNamed(text)];
}

/** The path or docid of a citation, without line numbers; any other text unchanged. */
export function withoutCitation(text: string): string {
  const path = citedPath(text.trim());
  if (parsePath(path) !== undefined) return path;
  const docid = withoutLines(text.trim());
  return parseDocid(docid) === undefined ? text : docid;
}

function keyNamed(text: string): readonly EntryName[] {
  return keyToLookUp(text) === text ? [{ origin: "fact", key: text }] : [];
}

function placeNamed(docid: string): readonly EntryName[] {
  const place = parseDocid(docid);
  const canBe = place?.origin === "audit" || (place !== undefined && keyToLookUp(place.key) === place.key);
  return canBe ? [place] : [];
}

/** Audit rows are also shown under their bare keys, which begin with their category. */
function runNamed(key: string): readonly EntryName[] {
  const category = parseAuditKey(key)?.category;
  return category === undefined ? [] : [{ origin: "audit", category, key }];
}
