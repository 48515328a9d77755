/**
 * What swe.solve remembers of a repository from one run to the next: the newest runs first, within a fixed size.
 *
 * The notes are the caller's and outlive the session, so that the next run recalls them (facts/helmdeck.md, fault 11). They reach
 * the coding command through its standard input only: not its arguments, which other users see, and not a file.
 */
import { createHash } from "node:crypto";
import type { UnixMs } from "../../engine/index.ts";
import type { PackMemory } from "../engine/pack-contract.ts";

/** Of helmdeck's notes (facts/helmdeck.md): category and time to live are the pack's policy. */
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
  /** What the command wrote down for the next time. */
  readonly lesson: string;
}

/** Empty without a store, and for a repository that was never worked on. */
export async function recallNotes(memory: PackMemory | undefined, address: string): Promise<string> {
  return (await memory?.recall(notesKey(address)))?.value ?? "";
}

/** Puts the run before those that are remembered; the oldest fall away. */
export async function rememberRun(
  memory: PackMemory | undefined,
  address: string,
  run: SolvedRun,
): Promise<void> {
  if (memory === undefined) return;
  // Read again: another run on this repository may have ended meanwhile.
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
