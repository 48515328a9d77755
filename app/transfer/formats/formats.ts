/** The formats that can be imported, by name, and which of them a file plainly is. */
import { extname } from "node:path";
import { HelmdeckError } from "../../../engine/index.ts";
import type { ReadItems } from "./format.ts";
import { readHelmdeck } from "./helmdeck.ts";
import { readMem0 } from "./mem0.ts";
import { IMPORT_FORMATS, type ImportFormat } from "./names.ts";
import { readServerMemory } from "./server-memory.ts";

/** What parses Markdown is loaded by those who need it. */
const READERS: Readonly<Record<ImportFormat, () => Promise<ReadItems>>> = {
  helmdeck: async () => readHelmdeck,
  markdown: async () => (await import("./markdown.ts")).readMarkdown,
  openclaw: async () => (await import("./openclaw.ts")).readOpenClaw,
  mem0: async () => readMem0,
  "server-memory": async () => readServerMemory,
};

export function readerOf(format: ImportFormat): Promise<ReadItems> {
  return READERS[format]();
}

/** Which it is when nobody says: our own, unless the name of a file says that it is something else. */
export function guessFormat(names: readonly string[]): ImportFormat {
  const other = names.find((name) => [".md", ".markdown", ".json"].includes(extname(name).toLowerCase()));
  if (other === undefined) return "helmdeck";
  throw wantsFormat(other);
}

export function wantsFormat(name: string): HelmdeckError {
  return new HelmdeckError(
    "invalid_input",
    `What ${name} is cannot be told by its name: say it with --from, one of ${IMPORT_FORMATS.join(", ")}.`,
  );
}
