/** Guesses the format of files. */

import { basename, extname } from "node:path";
import { HelmdeckError } from "../../../engine/errors.ts";
import { jsonOf } from "../../../engine/json.ts";
import { IMPORT_FORMATS, type ImportFormat } from "./names.ts";

/** Notes that agents keep under these names. */
const NOTES = new Map<string, ImportFormat>([
  ["MEMORY.md", "openclaw"],
  ["USER.md", "openclaw"],
  ["CLAUDE.md", "markdown"],
  ["AGENTS.md", "markdown"],
]);

/** The format when none is given: that of notes known by name, else our own. Throws `invalid_input` if the names do not tell. */
export function guessFormat(names: readonly string[]): ImportFormat {
  const [format = "jsonl", ...others] = new Set(names.map(formatOfName));
  if (others.length === 0) return format;
  throw new HelmdeckError(
    "invalid_input",
    `By their names, these files are of several formats (${[format, ...others].join(", ")}); import those of each format on their own, or give one for all with --from.`,
  );
}

function formatOfName(name: string): ImportFormat {
  const known = NOTES.get(basename(name));
  if (known !== undefined) return known;
  if ([".md", ".markdown", ".json"].includes(extname(name).toLowerCase())) throw wantsFormat(name);
  return "jsonl";
}

/** What a text looks like when it is not in the given format; ends a sentence. */
export function looksLike(text: string): string {
  const begin = text.trimStart();
  const isJson = begin.startsWith("{") || begin.startsWith("[");
  if (!isJson) return "it looks like Markdown (--from markdown)";
  const [first = ""] = begin.split("\n", 1);
  if (!isJsonObject(first) || /^\{\s*"(?:results|count|next)"/.test(first))
    return "it looks like JSON (--from mem0)";
  return /"type"\s*:\s*"(?:entity|relation)"/.test(first)
    ? "it looks like JSON Lines of server-memory (--from server-memory)"
    : "it looks like JSON Lines (--from jsonl)";
}

/** Whether a text given as Markdown looks like JSON: no notes begin like this. */
export function isJson(text: string): boolean {
  const begin = text.trimStart();
  if (!begin.startsWith("{") && !begin.startsWith("[")) return false;
  const [first = ""] = begin.split("\n", 1);
  return isJsonObject(first) || jsonOf(begin) !== undefined;
}

function isJsonObject(text: string): boolean {
  const value = jsonOf(text);
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function wantsFormat(name: string): HelmdeckError {
  return new HelmdeckError(
    "invalid_input",
    `Cannot tell the format of ${name} by its name; give it with --from, one of ${IMPORT_FORMATS.join(", ")}.`,
  );
}
