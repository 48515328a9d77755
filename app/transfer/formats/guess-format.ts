/** Guesses the format of files. */
import { extname } from "node:path";
import { HelmdeckError } from "../../../engine/errors.ts";
import { IMPORT_FORMATS, type ImportFormat } from "./names.ts";

/** The format when none is given: our own, unless a file's name indicates another. */
export function guessFormat(names: readonly string[]): ImportFormat {
  const other = names.find((name) => [".md", ".markdown", ".json"].includes(extname(name).toLowerCase()));
  if (other === undefined) return "jsonl";
  throw wantsFormat(other);
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
    : "it looks like JSON Lines (--from helmdeck)";
}

/** Whether a text given as Markdown looks like JSON: no notes begin like this. */
export function isJson(text: string): boolean {
  const begin = text.trimStart();
  if (!begin.startsWith("{") && !begin.startsWith("[")) return false;
  const [first = ""] = begin.split("\n", 1);
  return isJsonObject(first) || parsed(begin) !== undefined;
}

function isJsonObject(text: string): boolean {
  const value = parsed(text);
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function wantsFormat(name: string): HelmdeckError {
  return new HelmdeckError(
    "invalid_input",
    `Cannot tell the format of ${name} by its name; give it with --from, one of ${IMPORT_FORMATS.join(", ")}.`,
  );
}
