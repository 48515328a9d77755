/** The import formats by name; helmdeck's database also needs its key. This loads the Markdown parser, so only an import imports it. */
import type { ReadItems } from "./format.ts";
import { readJsonLines } from "./json-lines.ts";
import { readMarkdown } from "./markdown.ts";
import { readMem0 } from "./mem0.ts";
import type { ImportFormat } from "./names.ts";
import { readOpenClaw } from "./openclaw.ts";
import { readServerMemory } from "./server-memory.ts";

export const READERS: Readonly<Record<Exclude<ImportFormat, "helmdeck">, ReadItems>> = {
  jsonl: readJsonLines,
  markdown: readMarkdown,
  openclaw: readOpenClaw,
  mem0: readMem0,
  "server-memory": readServerMemory,
};
