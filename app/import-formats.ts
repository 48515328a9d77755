/**
 * The import formats by name; helmdeck's database also needs its key. This loads the Markdown parser, so only an import imports
 * it.
 */
import type { ReadItems } from "./transfer/formats/format.ts";
import { readJsonLines } from "./transfer/formats/json-lines.ts";
import { readMarkdown } from "./transfer/formats/markdown.ts";
import { readMem0 } from "./transfer/formats/mem0.ts";
import type { ImportFormat } from "./transfer/formats/names.ts";
import { readOpenClaw } from "./transfer/formats/openclaw.ts";
import { readServerMemory } from "./transfer/formats/server-memory.ts";

export { openCopy } from "./transfer/formats/helmdeck/database-copy.ts";
export { HELMDECK_KEY_VARIABLE, helmdeckKey } from "./transfer/formats/helmdeck/key.ts";
export { parseOwners } from "./transfer/formats/helmdeck/owners.ts";
export { type HelmdeckSource, helmdeckReader } from "./transfer/formats/helmdeck/read-helmdeck.ts";

export const READERS: Readonly<Record<Exclude<ImportFormat, "helmdeck">, ReadItems>> = {
  jsonl: readJsonLines,
  markdown: readMarkdown,
  openclaw: readOpenClaw,
  mem0: readMem0,
  "server-memory": readServerMemory,
};
