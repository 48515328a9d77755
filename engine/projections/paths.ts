/**
 * Maps corpus documents to virtual paths and back: `helmdeck/<category>/<key>.md`.
 *
 * A path comes from a model, which may have been told to climb out with `..` or to spell another entry's name. It is never given
 * to a file system. The mapping is one to one: every key has one path, every path at most one key, and any other spelling (an
 * unnecessary escape, a different case of a hex digit) is not a path.
 */
import { isAuditCategory } from "../audit/audit-keys.ts";
import { isCategory, RESERVED_CATEGORIES } from "../facts/facts-policy.ts";

/** All our paths begin with this. */
export const PATH_PREFIX = "helmdeck/";

/** The summary document. Its path has one segment fewer than an entry's path. */
export const MY_MEMORY_PATH = "helmdeck/my-memory.md";

/** The place of a document in the corpus. */
export interface CorpusPlace {
  readonly origin: "fact" | "audit";
  readonly category: string;
  readonly key: string;
}

const ENDING = ".md";
/**
 * Characters that a path escapes: slashes that would make an empty segment; dots that would make `.`, `..`, a hidden name or
 * another file extension; and every character outside a small ASCII set.
 */
const ODD = /(?<=^|\/)\/|\/$|(?<=^|[./])\.|\.(?=$|[./])|[^A-Za-z0-9_.~@+=,/-]/gu;

/** Keeps the slashes of the key; escapes other special characters as %XX of their UTF-8 bytes. */
export function pathOf(category: string, key: string): string {
  return `${PATH_PREFIX}${escapeName(category).replaceAll("/", "%2F")}/${escapeName(key)}${ENDING}`;
}

/** helmdeck's name of a document: `<category>/<key>`. */
export function docidOf(category: string, key: string): string {
  return `${category}/${key}`;
}

/** The place for exactly this path; undefined when it is not such a path. */
export function parsePath(path: string): CorpusPlace | undefined {
  if (!path.startsWith(PATH_PREFIX) || !path.endsWith(ENDING)) return undefined;
  const inner = path.slice(PATH_PREFIX.length, -ENDING.length);
  const slash = inner.indexOf("/");
  if (slash === -1) return undefined;
  const category = unescapeName(inner.slice(0, slash));
  const key = unescapeName(inner.slice(slash + 1));
  if (category === undefined || key === undefined || pathOf(category, key) !== path) return undefined;
  return placeOf(category, key);
}

/** The place of a docid; undefined when no corpus entry can have it. */
export function parseDocid(docid: string): CorpusPlace | undefined {
  const slash = docid.indexOf("/");
  return slash === -1 ? undefined : placeOf(docid.slice(0, slash), docid.slice(slash + 1));
}

/** Removes the line numbers from a citation: `user_facts/deploy#L3-L5`. */
export function withoutLines(citation: string): string {
  return citation.replace(/#L\d+(?:-L?\d+)?$/, "");
}

/**
 * The path of a citation: of `…/deploy.md#L3-L5`, or of `…/deploy.md:3-5` as terminals show it. A path itself never ends like
 * this.
 */
export function citedPath(citation: string): string {
  return withoutLines(citation).replace(/:\d+(?:-\d+)?$/, "");
}

export function isMyMemoryPath(path: string): boolean {
  return citedPath(path) === MY_MEMORY_PATH;
}

/** The origin of the documents in a category; undefined for categories that the corpus never shows. */
export function originOfCategory(category: string): CorpusPlace["origin"] | undefined {
  if (isAuditCategory(category)) return "audit";
  if (RESERVED_CATEGORIES.some((reserved) => reserved === category)) return undefined;
  return isCategory(category) ? "fact" : undefined;
}

function placeOf(category: string, key: string): CorpusPlace | undefined {
  const origin = originOfCategory(category);
  return origin === undefined || key === "" ? undefined : { origin, category, key };
}

function escapeName(name: string): string {
  return name.replace(ODD, (odd) => {
    const bytes = Buffer.from(odd).toString("hex").toUpperCase();
    return bytes.replace(/../g, "%$&");
  });
}

function unescapeName(escaped: string): string | undefined {
  try {
    return decodeURIComponent(escaped);
  } catch {
    return undefined; // a "%" without two hex digits, or invalid UTF-8
  }
}
