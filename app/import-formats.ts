/** The formats that can be imported, by name. What parses Markdown comes with them, so only an import loads this. */
import type { ReadItems } from "./transfer/formats/format.ts";
import { readHelmdeck } from "./transfer/formats/helmdeck.ts";
import { readMarkdown } from "./transfer/formats/markdown.ts";
import { readMem0 } from "./transfer/formats/mem0.ts";
import type { ImportFormat } from "./transfer/formats/names.ts";
import { readOpenClaw } from "./transfer/formats/openclaw.ts";
import { readServerMemory } from "./transfer/formats/server-memory.ts";

export const READERS: Readonly<Record<ImportFormat, ReadItems>> = {
  helmdeck: readHelmdeck,
  markdown: readMarkdown,
  openclaw: readOpenClaw,
  mem0: readMem0,
  "server-memory": readServerMemory,
};
