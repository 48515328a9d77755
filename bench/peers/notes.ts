/** A folder of Markdown notes, one for each fact: the kindest form for a search of files, since each hit is one fact. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FactLine } from "../recall/conversations.ts";

export function noteName({ key }: Pick<FactLine, "key">): string {
  return `${key.replaceAll(/[^\p{L}\p{N}]+/gu, "-")}.md`;
}

export function noteText({ key, value }: FactLine): string {
  return `# ${key}\n\n${value}\n`;
}

export function writeNote(folder: string, fact: FactLine): void {
  const path = join(folder, noteName(fact));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, noteText(fact));
}

export function removeNote(folder: string, fact: FactLine): void {
  rmSync(join(folder, noteName(fact)), { force: true });
}
