/**
 * Opens a text in an editor without writing it to a disk.
 *
 * An editor needs a file, and a deleted file can still be recovered from a disk. So the file is in a folder that the system
 * keeps in memory (tmpfs) and only this account can enter. It is removed when the editor ends, and on an interrupt. Without
 * such a folder, the person must give the value instead. The editor gets the same folder for its temporary files, but it may
 * write other files, such as its own history, elsewhere.
 */
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, readFile, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HelmdeckError } from "../engine/errors.ts";
import type { Shell } from "./shell.ts";

/** statfs types of Linux's in-memory file systems: tmpfs, ramfs. */
const IN_MEMORY = new Set([0x01021994, 0x858458f6]);
const SIGNALS = ["SIGTERM", "SIGHUP"] as const;

/** The edited text. `editor` is a command line, as in $EDITOR. Throws `invalid_input` if editing fails. */
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
