/** The sample notes, and helpers for tests of imports. */
import { createReadStream, globSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { OpenMemory } from "../../app/compose.ts";
import type { ImportFile } from "../../app/transfer/formats/format.ts";
import type { ImportFormat } from "../../app/transfer/formats/names.ts";
import { READERS } from "../../app/transfer/formats/readers.ts";
import type { ImportResult } from "../../app/transfer/import-counts.ts";
import { type ImportRequest, importFiles } from "../../app/transfer/import-files.ts";

const NOTES = fileURLToPath(new URL("../fixtures/notes", import.meta.url));

/** Each format with the files of its sample. */
export const SAMPLES: Readonly<Record<Exclude<ImportFormat, "jsonl" | "helmdeck">, readonly string[]>> = {
  openclaw: [
    "workspace/MEMORY.md",
    "workspace/USER.md",
    ...globSync("workspace/memory/*.md", { cwd: NOTES }).toSorted(),
  ],
  markdown: ["CLAUDE.md"],
  mem0: ["mem0.json"],
  "server-memory": ["server-memory.jsonl"],
};

export function sample(name: string): ImportFile {
  const path = join(NOTES, name);
  return { name: path, open: () => createReadStream(path) };
}

export function textFile(text: string, name = "notes/notes.md"): ImportFile {
  return {
    name,
    open: async function* () {
      yield Buffer.from(text);
    },
  };
}

export function importNotes(
  memory: OpenMemory,
  format: Exclude<ImportFormat, "helmdeck">,
  files: readonly ImportFile[],
  options: Partial<ImportRequest> = {},
): Promise<ImportResult> {
  return importFiles({ memory, subject: "main", format, read: READERS[format], files, ...options });
}

export async function factsOf(memory: OpenMemory, subject = "main"): Promise<Record<string, string>> {
  const { facts } = await memory.listFacts(subject, { limit: 1_000 });
  return Object.fromEntries(facts.map(({ key, value }) => [key, value] as const).sort());
}
