/**
 * Opens the command line's memory for one command, and always closes it. Embeds new entries after the command has answered: for a
 * short time, and silently if it fails.
 */
import type { CommandMemory, OpenMemory } from "../app/compose.ts";
import type { EmbedReport } from "../app/embedding/on-request.ts";
import type { OpenMemoryOptions } from "../app/open-memory-options.ts";
import { everyCaller } from "../app/overview.ts";
import { endingLine } from "../app/presenters/ending-text.ts";
import { defined } from "../engine/defined.ts";
import { HelmdeckError, isHelmdeckError } from "../engine/errors.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { plainName } from "../engine/projections/frame.ts";
import { within } from "../engine/timing.ts";
import type { CommandContext } from "./command-line.ts";

/** For commands that report a failure to find the location or key as part of their answer. */
export async function placeOf(context: CommandContext): Promise<OpenMemoryOptions | HelmdeckError> {
  try {
    return await context.line.memoryOptions(context);
  } catch (error) {
    if (isHelmdeckError(error)) return error;
    throw error;
  }
}

/** For commands that read; works even if nothing can be written. */
export async function withMemory<Answer>(
  context: CommandContext,
  use: (memory: CommandMemory) => Promise<Answer>,
  how: Omit<How, "access"> = {},
): Promise<Answer> {
  return useOpen(context, await openAnywhere(context, { ...READING, ...how }), use);
}

/** Like {@link withMemory}, for work on the store itself. Throws like {@link refuseRemote}. */
export async function withStore<Answer>(
  context: CommandContext,
  command: string,
  use: (memory: OpenMemory) => Promise<Answer>,
): Promise<Answer> {
  await refuseRemote(context, command);
  return useOpen(context, await openHere(context, READING), use);
}

/**
 * Like {@link withMemory}, for commands that write. Also deletes expired entries, so that they leave the disk even if no
 * gateway runs a sweeper. `afterwards` starts when that is done.
 */
export async function withMemoryToWrite<Answer>(
  context: CommandContext,
  use: (memory: CommandMemory) => Promise<Answer>,
  afterwards?: (memory: CommandMemory, answer: Answer) => Promise<void>,
  how: Omit<How, "access"> = {},
): Promise<Answer> {
  return useOpen(context, await openAnywhere(context, how), sweeping(use, afterwards));
}

/** Like {@link withMemoryToWrite}, for commands that store nothing new. */
export async function withMemoryToChange<Answer>(
  context: CommandContext,
  use: (memory: CommandMemory) => Promise<Answer>,
): Promise<Answer> {
  return useOpen(context, await openAnywhere(context, CHANGING), sweeping(use));
}

/** Both of {@link withStore} and {@link withMemoryToWrite}. */
export async function withStoreToWrite<Answer>(
  context: CommandContext,
  command: string,
  use: (memory: OpenMemory) => Promise<Answer>,
  afterwards?: (memory: OpenMemory, answer: Answer) => Promise<void>,
): Promise<Answer> {
  await refuseRemote(context, command);
  return useOpen(context, await openHere(context, {}), sweeping(use, afterwards));
}

/**
 * Search, status and doctor wait this long for what embeds: each command loads the built-in model again, which takes seconds on a
 * busy machine, and a person would rather wait than get keywords.
 */
export const PATIENT = { questionBudgetMs: 30_000 };
/** After that, a person is told. */
const SILENT_MS = 1_500;

/** Tells a person at a terminal what a command waits for. */
export async function sayingThatItWaits<Answer>(
  { shell, output }: CommandContext,
  answer: Promise<Answer>,
): Promise<Answer> {
  if (shell.stderr.isTTY !== true) return answer;
  await within(SILENT_MS, answer, () => output.note(WAITING));
  return answer;
}

const WAITING = "Waiting for the model that searches by meaning …";

const READING = { access: "read" } as const;
const CHANGING = { access: "change" } as const;

async function useOpen<Opened extends CommandMemory, Answer>(
  context: CommandContext,
  memory: Opened,
  use: (memory: Opened) => Promise<Answer>,
): Promise<Answer> {
  try {
    if (memory.notice !== undefined) await context.output.note(harmlessLine(memory.notice));
    const answer = await use(memory);
    await noteNewKey(context, memory);
    await noteEnding(context, memory);
    return answer;
  } finally {
    await memory.close();
  }
}

function sweeping<Opened extends CommandMemory, Answer>(
  use: (memory: Opened) => Promise<Answer>,
  afterwards: (memory: Opened, answer: Answer) => Promise<void> = async () => {},
): (memory: Opened) => Promise<Answer> {
  return async (memory) => {
    const answer = await use(memory);
    await memory.sweep().catch(() => {}); // The command itself succeeded; the next writer sweeps.
    await afterwards(memory, answer);
    return answer;
  };
}

/** For a person: a script has nobody who could keep a copy. */
async function noteNewKey({ shell, output }: CommandContext, { newKey }: CommandMemory): Promise<void> {
  if (newKey === undefined || shell.stderr.isTTY !== true) return;
  const { KEEP_A_COPY } = await import("../app/keys/store-notes.ts");
  await output.note(`Created the encryption key ${newKey}. ${KEEP_A_COPY}`);
}

/** To a person, once a day; nothing where that cannot be noted. */
async function noteEnding(
  { shell, options, line, later }: CommandContext,
  memory: CommandMemory,
): Promise<void> {
  if (shell.stderr.isTTY !== true || options.json) return;
  const { facts } = await memory.tellEnding(options.caller).catch(() => ({ facts: 0 }));
  if (facts > 0) later.push(endingLine(facts, `${line.name} renew --expiring`));
}

async function openAnywhere(context: CommandContext, how: How): Promise<CommandMemory> {
  return (await context.line.remote?.()) ?? openHere(context, how);
}

type How = Pick<OpenMemoryOptions, "access" | "questionBudgetMs" | "sweepEveryMs" | "embedsEntries">;

async function openHere(context: CommandContext, how: How): Promise<OpenMemory> {
  const options = await context.line.memoryOptions(context);
  const { openMemory } = await import("../app/open-memory.ts");
  const memory = await openMemory({ ...options, ...how });
  const { json, caller } = context.options;
  if (how.access === undefined || json || memory.notice !== undefined) return memory;
  return {
    ...memory,
    ...defined({ notice: await otherCallersNotice(caller, memory, options) }),
  };
}

const MOST_CALLERS = 10;

/**
 * Who has a memory in this database, if the caller has none: its name may be mistyped. Only for the owner of a database file: on a
 * server, others' names are none of a caller's business. Never throws.
 */
export async function otherCallersNotice(
  caller: string,
  memory: Pick<OpenMemory, "callers">,
  { server }: Pick<OpenMemoryOptions, "server">,
): Promise<string | undefined> {
  if (server !== undefined) return undefined;
  const own = await memory.callers(caller).catch(() => undefined);
  if (own?.callers.length !== 0) return undefined;
  const names = (await everyCaller(memory).catch(() => [])).map(({ subject }) => plainName(subject));
  if (names.length === 0) return undefined;
  const more = names.length > MOST_CALLERS ? ` and ${names.length - MOST_CALLERS} more` : "";
  return `${plainName(caller)} has no memory here; these have one: ${names.slice(0, MOST_CALLERS).join(", ")}${more}.`;
}

/** For work that needs the database itself. Throws `memory_unavailable` if another process keeps it. `command`: to run there. */
export async function refuseRemote({ line }: CommandContext, command = ""): Promise<void> {
  const memory = await line.remote?.();
  if (memory === undefined) return;
  await memory.close();
  const { refusal } = memory;
  if (refusal.code === "method_not_allowed") throw refusal; // a helmdeck server does not run our commands
  throw new HelmdeckError(
    "memory_unavailable",
    `A server keeps this memory. Run ${command === "" ? "this command" : `helmdeck-memory ${command}`} on the engine's machine.`,
  );
}

/** What is stored has been acknowledged. */
const AFTER_WRITING_MS = 1_500;
/** Short, because a search is run for its answer. Enough for about ten texts on an idle machine. */
const AFTER_SEARCH_MS = 300;

/** Embeds the stored fact, which has already been acknowledged. */
export async function embedStored(memory: CommandMemory, caller: string, key: string): Promise<void> {
  await memory.embedFact(caller, key, { withinMs: AFTER_WRITING_MS }).catch(() => {});
}

/** Embeds as many imported entries as the time allows; undefined if the number is unknown. */
export function embedImported(memory: CommandMemory, caller: string): Promise<EmbedReport | undefined> {
  return memory.embed(caller, { withinMs: AFTER_WRITING_MS }).catch(() => undefined);
}

/** Embeds the hits without vectors. */
export async function embedSearched(memory: CommandMemory, caller: string): Promise<void> {
  await memory.embed(caller, { withinMs: AFTER_SEARCH_MS }).catch(() => {});
}
