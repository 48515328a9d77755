/**
 * From a project's slug to the keys of its facts: `projects/<slug>/<category>/<name>`.
 *
 * Who attacks: a repository. Its slug comes from a file or a remote address in it, so whoever gets a person to work in a clone
 * chooses it, to read another project's facts or to have theirs overwritten. What stops them: a slug is always one segment of
 * the key, spelt so that no two slugs share a spelling; `..`, slashes and control characters are escaped, never interpreted.
 */
import { createHash } from "node:crypto";
import { FACT_LIMITS } from "../engine/reader.ts";

const ROOT = "projects/";

/** What stays as it is; everything else, `%` included, is written as %XX of its UTF-8 bytes. */
const ESCAPED = /[^\p{L}\p{M}\p{N}_.-]/gu;

/** Room for a category of 64 bytes, a name and the slashes. */
const MOST_SLUG_BYTES = 192;
const MOST_NAME_BYTES = FACT_LIMITS.keyBytes - ROOT.length - MOST_SLUG_BYTES - 64 - 2;

/** True for text that can stand for a project: not blank, Unicode, and not of absurd length. */
export function isSlug(text: unknown): text is string {
  return typeof text === "string" && text.trim() !== "" && text.isWellFormed() && fits(segmentOf(text));
}

/** The prefix that the keys of this project's facts have, and those of no other. */
export function projectPrefix(slug: string): string {
  return `${ROOT}${segmentOf(slug)}/`;
}

/** True for a key of no project: what is always loaded for every one. */
export function isOfNoProject(key: string): boolean {
  return !key.startsWith(ROOT);
}

/** Where a fact of a project stands. A name too long for a key is cut, and told apart by a digest of all of it. */
export function projectKey(slug: string, category: string, name: string): string {
  const segment = segmentOf(name);
  const bounded =
    Buffer.byteLength(segment) <= MOST_NAME_BYTES ? segment : `${cut(segment)}~${digestOf(name)}`;
  return `${projectPrefix(slug)}${category}/${bounded}`;
}

/** 16 hexadecimal digits that stand for a text. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function segmentOf(text: string): string {
  const escaped = text.replace(ESCAPED, escapeBytes);
  return /^\.+$/.test(escaped) ? escaped.replaceAll(".", "%2E") : escaped;
}

function escapeBytes(character: string): string {
  const hex = Buffer.from(character).toString("hex").toUpperCase();
  return hex.replace(/../g, "%$&");
}

function fits(segment: string): boolean {
  return Buffer.byteLength(segment) <= MOST_SLUG_BYTES;
}

/** Short enough with the digest behind it, whatever the characters. */
function cut(segment: string): string {
  return Array.from(segment)
    .slice(0, Math.floor((MOST_NAME_BYTES - 17) / 4))
    .join("");
}
