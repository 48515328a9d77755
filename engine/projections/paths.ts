/**
 * Virtual paths of corpus documents, and the way back: `helmdeck/<category>/<key>.md`.
 *
 * A path comes back from a model, which may have been told to climb out with `..` or to spell another's name. It is never
 * given to a file system. It maps to exactly one entry: every key has one path, every path at most one key, and any other
 * spelling of it (an escape that was not needed, a different case of a digit) is no path at all.
 */
import { isAuditCategory } from "../audit/audit-keys.ts";
import { isCategory, RESERVED_CATEGORIES } from "../facts/facts-policy.ts";

/** Every path of ours begins so. */
export const PATH_PREFIX = "helmdeck/";

/** The document that says what memory holds. It has one segment fewer than any entry's path. */
export const MY_MEMORY_PATH = "helmdeck/my-memory.md";

/** Where in the corpus a document stands. */
export interface CorpusPlace {
  readonly origin: "fact" | "audit";
  readonly category: string;
  readonly key: string;
}

const ENDING = ".md";
/**
 * What a path does not hold as it is: slashes that would make an empty segment; dots that would make `.`, `..`, a hidden
 * name or an ending of their own; and every character outside a small ASCII set.
 */
const ODD = /(?<=^|\/)\/|\/$|(?<=^|[./])\.|\.(?=$|[./])|[^A-Za-z0-9_.~@+=,/-]/gu;

/** Slashes of the key stay; what is odd in it is written as %XX of its UTF-8 bytes. */
export function pathOf(category: string, key: string): string {
  return `${PATH_PREFIX}${escapeName(category).replaceAll("/", "%2F")}/${escapeName(key)}${ENDING}`;
}

/** helmdeck's name of a document: `<category>/<key>`. */
export function docidOf(category: string, key: string): string {
  return `${category}/${key}`;
}

/** The place that this path, and only this path, stands for; undefined when it is not such a path. */
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

/** The place of a docid; undefined when nothing in the corpus can have it. */
export function parseDocid(docid: string): CorpusPlace | undefined {
  const slash = docid.indexOf("/");
  return slash === -1 ? undefined : placeOf(docid.slice(0, slash), docid.slice(slash + 1));
}

/** The lines that a citation ends with taken off: `user_facts/deploy#L3-L5`. */
export function withoutLines(citation: string): string {
  return citation.replace(/#L\d+(?:-L?\d+)?$/, "");
}

/** The path of a citation: of `…/deploy.md#L3-L5`, or of `…/deploy.md:3-5` as terminals show it. No path ends so itself. */
export function citedPath(citation: string): string {
  return withoutLines(citation).replace(/:\d+(?:-\d+)?$/, "");
}

export function isMyMemoryPath(path: string): boolean {
  return citedPath(path) === MY_MEMORY_PATH;
}

/** Which origin shows documents in a category; undefined for categories that the corpus never shows. */
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
    return undefined; // a "%" without two hex digits, or bytes that are no UTF-8
  }
}
