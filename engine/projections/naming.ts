/**
 * What a text may name: an entry by its path, its key, its docid, or a citation of one of these.
 *
 * Answers show an entry under all of these, and any of them comes back from a person or a model. A path is read as nothing
 * else. Any other text is ambiguous: `deploy/preference` is the key of a fact, and the docid of the fact `preference` in the
 * category `deploy`. So every reading is given, and who asks decides by what there is.
 */
import { parseAuditKey } from "../audit/audit-keys.ts";
import { keyToLookUp } from "../facts/facts-policy.ts";
import { type CorpusPlace, citedPath, parseDocid, parsePath, withoutLines } from "./paths.ts";

/** A fact by its key alone, or what stands at one place of the corpus. */
export type EntryName =
  | { readonly origin: "fact"; readonly key: string; readonly category?: never }
  | CorpusPlace;

/** Every entry that a text may name, each once: as an exact key first. None when no entry can have such a name. */
export function entriesNamedBy(text: string): readonly EntryName[] {
  const document = parsePath(citedPath(text));
  if (document !== undefined) return [document];
  const docids = new Set([text, withoutLines(text)]);
  return [...keyNamed(text), ...[...docids].flatMap(placeNamed), ...runNamed(text)];
}

/** The path or docid of a citation, without its lines; any other text as it is. */
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

/** Audit rows are shown under their bare keys too, which begin with their category. */
function runNamed(key: string): readonly EntryName[] {
  const category = parseAuditKey(key)?.category;
  return category === undefined ? [] : [{ origin: "audit", category, key }];
}
