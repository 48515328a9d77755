/**
 * The notes that swe.solve keeps about a repository between runs: newest runs first, within a fixed size.
 *
 * The notes belong to the caller and outlive the session, so that the next run can recall them. They reach the coding command
 * only through its standard input: not through arguments, which other users can see, and not through a file.
 */
import { createHash } from "node:crypto";
import { kindOfSecret } from "../../engine/facts/secrets.ts";
import type { UnixMs } from "../../engine/store/memory-store.ts";
import type { PackMemory } from "../engine/pack-contract.ts";

/** The same key as helmdeck's notes. Category and TTL come from the pack's policy. */
export function notesKey(address: string): string {
  return `swe.solve/${createHash("sha256").update(address).digest("hex").slice(0, 16)}/notes`;
}

export const NOTES_TTL_SECONDS = 2_592_000;
export const NOTES_CATEGORY = "solve";

const MOST_BYTES = 32 * 1_024;
const TASK_CHARACTERS = 300;
const ENTRY_MARK = "\n\n## Run of ";

export interface SolvedRun {
  readonly endedAt: UnixMs;
  readonly task: string;
  readonly filesChanged: number;
  /** The command's own note for the next run. */
  readonly lesson: string;
}

/** Empty without a store, and for a repository without earlier runs. */
export async function recallNotes(memory: PackMemory | undefined, address: string): Promise<string> {
  return (await memory?.recall(notesKey(address)))?.value ?? "";
}

/** Adds the run before the earlier ones; the oldest are dropped. A run whose text looks like a credential is not added. */
export async function rememberRun(
  memory: PackMemory | undefined,
  address: string,
  run: SolvedRun,
): Promise<void> {
  if (memory === undefined || (await kindOfSecret(entryOf(run))) !== undefined) return;
  // Read again, because another run on this repository may have ended in the meantime.
  const before = await recallNotes(memory, address);
  const value = cutAtRun(`${entryOf(run)}${before === "" ? "" : `\n\n${before}`}`);
  await memory.store(notesKey(address), value, { ttlSeconds: NOTES_TTL_SECONDS, category: NOTES_CATEGORY });
}

function entryOf({ endedAt, task, filesChanged, lesson }: SolvedRun): string {
  const lines = [
    `## Run of ${new Date(endedAt).toISOString()}`,
    `Task: ${task.replaceAll(/\s+/g, " ").trim().slice(0, TASK_CHARACTERS)}`,
    `Files changed: ${filesChanged}`,
    ...(lesson === "" ? [] : ["", lesson]),
  ];
  return lines.join("\n").toWellFormed();
}

function cutAtRun(notes: string): string {
  let kept = notes;
  while (Buffer.byteLength(kept) > MOST_BYTES && kept.includes(ENTRY_MARK)) {
    kept = kept.slice(0, kept.lastIndexOf(ENTRY_MARK));
  }
  return kept;
}
