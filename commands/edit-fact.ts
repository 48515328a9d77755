/** `edit`: a new value for an existing fact, from the command line or from an editor. */

import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, readFile, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FactView } from "../app/memory.ts";
import { defined } from "../engine/defined.ts";
import { HelmdeckError, isHelmdeckError } from "../engine/errors.ts";
import { harmlessBlock, harmlessLine } from "../engine/facts/hostile-text.ts";
import { type CommandContext, missingFact } from "./command-line.ts";
import { EXIT_DONE, EXIT_FAILED } from "./exit-codes.ts";
import { agreesAt } from "./input.ts";
import type { Shell } from "./shell.ts";
import { keepFact, readValue } from "./store.ts";
import { withMemory } from "./with-memory.ts";

interface EditRequest {
  readonly key: string;
  /** `-` is standard input. */
  readonly value?: string;
  readonly valueFile?: string;
  readonly ttlSeconds?: number;
  /** Store the value even if it looks like a credential. */
  readonly allowSecret: boolean;
}

/** Why the request cannot run: there is no terminal, or no editor. */
export function problemOf({ shell }: CommandContext, request: EditRequest): string | undefined {
  if (!isTyped(request)) return undefined;
  if (shell.stdin.isTTY !== true)
    return "give the new value: as VALUE, as - for standard input, or with --value-file.";
  if (editorOf(shell) !== undefined) return undefined;
  return "set VISUAL or EDITOR to your editor, or give the new value: as VALUE, as -, or with --value-file.";
}

export async function editCommand(context: CommandContext, request: EditRequest): Promise<number> {
  const before = await factToEdit(context, request.key);
  return edit(context, request, before, before.value);
}

/** `before`: what is stored, which the new value may replace. `text`: what the editor begins with. */
async function edit(
  context: CommandContext,
  request: EditRequest,
  before: Stored,
  text: string,
): Promise<number> {
  const { allowSecret, ttlSeconds } = request;
  const value = await newValue(context, request, text);
  if (isTyped(request) && value.trim() === before.value) {
    await context.output.note("Nothing was changed in the editor.");
    return EXIT_DONE;
  }
  const { key, revision: ifRevision } = before;
  try {
    return await keepFact(context, { key, value, ...defined({ ttlSeconds, ifRevision }) }, allowSecret);
  } catch (error) {
    if (!isHelmdeckError(error, "changed_meanwhile")) throw error;
    if (!isTyped(request) && context.options.json) throw error;
    const now = await tellBoth(context, key, value);
    if (!isTyped(request)) throw error;
    return (await agreesAt(context.shell, "Edit yours again?"))
      ? edit(context, request, now, value)
      : EXIT_FAILED;
  }
}

/** A fact, or the fact's key if it was forgotten meanwhile. */
type Stored = Pick<FactView, "key"> & Partial<Pick<FactView, "value" | "revision">>;

/** What the person wrote comes first: it is nowhere else. */
async function tellBoth(context: CommandContext, key: string, value: string): Promise<Stored> {
  const { output, options } = context;
  await output.note(
    `Nothing was stored: ${harmlessLine(key)} was changed or forgotten meanwhile.\nYours:\n${indented(value)}`,
  );
  const now = await withMemory(context, (memory) => memory.getFact(options.caller, { key }));
  await output.note(
    now === undefined ? "Nothing is stored under this key now." : `Stored now:\n${indented(now.value)}`,
  );
  return now ?? { key, revision: 0 };
}

function indented(value: string): string {
  return harmlessBlock(value).trimEnd().replaceAll(/^/gm, "      ");
}

async function factToEdit(context: CommandContext, key: string): Promise<FactView> {
  const fact = await withMemory(context, (memory) => memory.getFact(context.options.caller, { key }));
  if (fact === undefined) throw missingFact(context);
  return fact;
}

/** Whether the value comes from an editor. */
function isTyped({ value, valueFile }: EditRequest): boolean {
  return value === undefined && valueFile === undefined;
}

function newValue(context: CommandContext, { value, valueFile }: EditRequest, text: string): Promise<string> {
  if (value !== undefined && value !== "-") return Promise.resolve(value);
  if (value === "-" || valueFile !== undefined) return readValue(context, { path: valueFile ?? "-" });
  return textFromEditor(context.shell, editorOf(context.shell) ?? "", text);
}

function editorOf({ env }: CommandContext["shell"]): string | undefined {
  return [env.VISUAL, env.EDITOR].find((editor) => editor !== undefined && editor.trim() !== "");
}

/** statfs types of Linux's in-memory file systems: tmpfs, ramfs. */
const IN_MEMORY = new Set([0x01021994, 0x858458f6]);
const SIGNALS = ["SIGTERM", "SIGHUP"] as const;

/**
 * The text as edited, without writing it to a disk. `editor` is a command line, as in $EDITOR. Throws `invalid_input` if editing
 * fails.
 *
 * An editor needs a file, and a deleted file can still be recovered from a disk. So the file is in a folder that the system
 * keeps in memory (tmpfs) and only this account can enter. It is removed when the editor ends, and on an interrupt. Without
 * such a folder, the person must give the value instead. The editor gets the same folder for its temporary files, but it may
 * write other files, such as its own history, elsewhere.
 */
async function textFromEditor({ env }: Shell, editor: string, text: string): Promise<string> {
  const folder = await mkdtemp(join(await folderInMemory(env), "helmdeck-edit-"));
  const stopWatching = removeOnSignal(folder);
  try {
    const file = join(folder, "value.md");
    await writeFile(file, text, { mode: 0o600, flag: "wx" });
    await run(editor, file, { ...env, TMPDIR: folder });
    return await readFile(file, "utf8");
  } finally {
    stopWatching();
    await rm(folder, { recursive: true, force: true });
  }
}

async function folderInMemory({ XDG_RUNTIME_DIR }: Shell["env"]): Promise<string> {
  for (const folder of [XDG_RUNTIME_DIR, "/dev/shm"]) {
    if (folder !== undefined && (await isInMemory(folder))) return folder;
  }
  throw refused(
    "An editor needs a folder in memory (XDG_RUNTIME_DIR or /dev/shm as tmpfs), so that no disk keeps the text. There is none here. Give the value instead: as VALUE, as - for standard input, or with --value-file.",
  );
}

async function isInMemory(folder: string): Promise<boolean> {
  const type = await statfs(folder).then(
    (stats) => stats.type,
    () => undefined,
  );
  return type !== undefined && IN_MEMORY.has(type);
}

/** Run by a shell, as usual for $EDITOR, because it may have arguments. */
async function run(editor: string, file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const running = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit", env });
  const code = await new Promise<number | null>((resolve, reject) => {
    running.once("error", reject);
    running.once("exit", resolve);
  });
  if (code !== 0) throw refused("The editor failed; nothing was changed.");
}

/** The editor handles Ctrl-C itself. */
function removeOnSignal(folder: string): () => void {
  const onSignal = (signal: NodeJS.Signals): void => {
    stop();
    rmSync(folder, { recursive: true, force: true });
    process.kill(process.pid, signal);
  };
  const stop = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return stop;
}

function refused(message: string): HelmdeckError {
  return new HelmdeckError("invalid_input", message);
}
