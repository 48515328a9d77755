/**
 * Counts the notes that hold what is about to be forgotten, for surfaces that must answer at once: chat, the agent's tool, pages.
 *
 * Only a number leaves: an agent that could see where or what would read notes that a sandbox keeps from it. Anybody whom an agent
 * reads may have written into the notes: so they are looked through in a thread of its own, which is ended when its time is up.
 */
import { Worker } from "node:worker_threads";
import { fileOfBuild } from "../../engine/file-of-build.ts";
import { within } from "../../engine/timing.ts";
import type { Memory } from "../memory.ts";
import type { NotesCount } from "./find-traces.ts";
import { valuesInScope } from "./values-in-scope.ts";

/** A person waits for the answer: the thread begins no further note after the first time, and is ended after the second. */
const WITHIN_MS = 1_000;
const ENDED_AFTER_MS = 5_000;
const MOST_MEMORY_MIB = 512;

export interface NotesQuery {
  readonly memory: Memory;
  readonly subject: string;
  readonly scope: string;
  readonly workspaces: readonly string[];
}

/** What the thread is started with. */
export interface NotesToCount {
  readonly values: readonly string[];
  readonly workspaces: readonly string[];
  readonly withinMs: number;
}

/**
 * Read before the forget; the values are dropped as soon as they are counted. Undefined when there is nothing to look for, or
 * nowhere to look. Never rejects.
 */
export async function notesHolding(query: NotesQuery): Promise<NotesCount | undefined> {
  const { memory, subject, scope, workspaces } = query;
  if (workspaces.length === 0) return undefined;
  try {
    const { values, isPartial, unreadable } = await valuesInScope(memory, subject, scope);
    const isWhole = !isPartial && unreadable === 0;
    if (values.length === 0) return isWhole ? undefined : UNKNOWN;
    const { count, isComplete } = await countInThread({ values, workspaces, withinMs: WITHIN_MS });
    return { count, isComplete: isComplete && isWhole };
  } catch {
    return UNKNOWN; // the forget itself reports what is wrong
  }
}

const UNKNOWN: NotesCount = { count: 0, isComplete: false };

async function countInThread(workerData: NotesToCount): Promise<NotesCount> {
  const thread = new Worker(fileOfBuild("notes-thread", import.meta.url), {
    ...{ name: "helmdeck-memory-notes", workerData, argv: [], execArgv: [] },
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MIB },
  });
  const counted = new Promise<NotesCount>((resolve) => {
    thread.once("message", resolve);
    thread.once("error", () => resolve(UNKNOWN));
    thread.once("exit", () => resolve(UNKNOWN)); // not after an answer
  });
  try {
    return await within(ENDED_AFTER_MS, counted, () => UNKNOWN);
  } finally {
    await thread.terminate();
  }
}
