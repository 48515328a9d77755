/**
 * A text in a person's editor, without a disk ever seeing it.
 *
 * An editor wants a file, and a file that was on a disk can be read from it after it was deleted. So the file lies in a folder
 * that the system keeps in memory (tmpfs), which only this account can enter, and goes with the editor, also when we are
 * interrupted. Where there is no such folder the person is told to give the value instead. What an editor writes elsewhere
 * by itself, such as a history of its own, we cannot know; it gets the same folder for its temporary files.
 */
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, readFile, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HelmdeckError } from "../app/basics.ts";
import type { Shell } from "./shell.ts";

/** What statfs says of Linux's file systems in memory: tmpfs, ramfs. */
const IN_MEMORY = new Set([0x01021994, 0x858458f6]);
const SIGNALS = ["SIGTERM", "SIGHUP"] as const;

/** The text as the person left it. `editor` is a command line, as in $EDITOR. Throws `invalid_input` when nothing came of it. */
export async function textFromEditor({ env }: Shell, editor: string, text: string): Promise<string> {
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

/** By a shell, as everybody runs $EDITOR: it may hold arguments. */
async function run(editor: string, file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const running = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit", env });
  const code = await new Promise<number | null>((resolve, reject) => {
    running.once("error", reject);
    running.once("exit", resolve);
  });
  if (code !== 0) throw refused("The editor failed; nothing was changed.");
}

/** Ctrl-C is the editor's. */
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
