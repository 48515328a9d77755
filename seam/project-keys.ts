/**
 * Maps a project's slug to the keys of its facts: `projects/<slug>/<category>/<name>`.
 *
 * Threat: an untrusted repository. Its slug comes from a file or a remote address in it, so the repository's author can choose
 * it to read or overwrite another project's facts. Defence: a slug is always one segment of the key, and different slugs
 * always give different segments; `..`, slashes and control characters are escaped, never interpreted.
 */
import { createHash } from "node:crypto";
import { FACT_LIMITS } from "../engine/reader.ts";

const ROOT = "projects/";

/** Unescaped characters; all others, including `%`, are written as %XX of their UTF-8 bytes. */
const ESCAPED = /[^\p{L}\p{M}\p{N}_.-]/gu;

/** Room for a category of 64 bytes, a name and the slashes. */
const MOST_SLUG_BYTES = 192;
const MOST_NAME_BYTES = FACT_LIMITS.keyBytes - ROOT.length - MOST_SLUG_BYTES - 64 - 2;

/** True for a valid slug: not blank, valid Unicode, and not too long. */
export function isSlug(text: unknown): text is string {
  return typeof text === "string" && text.trim() !== "" && text.isWellFormed() && fits(segmentOf(text));
}

/** The key prefix of this project's facts, unique to the project. */
export function projectPrefix(slug: string): string {
  return `${ROOT}${segmentOf(slug)}/`;
}

/** True for a key without a project: its fact is loaded for every project. */
export function isOfNoProject(key: string): boolean {
  return !key.startsWith(ROOT);
}

/** The key of a project's fact. A name that is too long is cut and gets a digest of the complete name. */
export function projectKey(slug: string, category: string, name: string): string {
  const segment = segmentOf(name);
  const bounded =
    Buffer.byteLength(segment) <= MOST_NAME_BYTES ? segment : `${cut(segment)}~${digestOf(name)}`;
  return `${projectPrefix(slug)}${category}/${bounded}`;
}

/** A digest of 16 hexadecimal digits. */
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

/** Cuts a segment so that it fits together with the digest. */
function cut(segment: string): string {
  return Array.from(segment)
    .slice(0, Math.floor((MOST_NAME_BYTES - 17) / 4))
    .join("");
}
