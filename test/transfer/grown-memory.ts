/** A memory grown from four imports that overlap: the same allergy in each, contradictions, and what is merely near. */
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { OpenMemory } from "../../app/compose.ts";
import type { ImportResult } from "../../app/transfer/import-counts.ts";
import type { ImportRequest } from "../../app/transfer/import-files.ts";
import { importNotes } from "./notes.ts";

const FOLDER = fileURLToPath(new URL("../fixtures/grown", import.meta.url));

/** Each with its format, in the order of the imports. */
export const GROWN_FROM = [
  ["openclaw", "MEMORY.md"],
  ["markdown", "CLAUDE.md"],
  ["mem0", "mem0.json"],
  ["jsonl", "facts.jsonl"],
] as const;

function grownFile(name: string): string {
  return join(FOLDER, name);
}

/** The results of the imports, or of some of them, in their order. */
export async function growMemory(
  memory: OpenMemory,
  options: Partial<ImportRequest> = {},
  imports: readonly (typeof GROWN_FROM)[number][] = GROWN_FROM,
): Promise<readonly ImportResult[]> {
  const results: ImportResult[] = [];
  for (const [format, name] of imports) {
    const file = { name: grownFile(name), open: () => createReadStream(grownFile(name)) };
    results.push(await importNotes(memory, format, [file], options));
  }
  return results;
}
