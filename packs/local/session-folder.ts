/**
 * The folder of one session: private to its owner, with checked paths, and always removable.
 *
 * Threat: a program in the session plants symbolic links so that the next program or the removal works outside the folder, or
 * removes permissions so that the folder cannot be deleted. Defence: a working folder is checked by its real path, and removal
 * restores permissions of folders, never of link targets.
 */

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join, resolve, sep } from "node:path";
import { invalidField } from "../../engine/errors.ts";
import { isFileError, makePrivateFolder, unlessMissing } from "../../engine/private-file.ts";
import { endProcessesAtHome } from "./process-runner.ts";

/** HOME of a session's programs. */
export function homeOf(folder: string): string {
  return join(folder, ".home");
}

/** TMPDIR of a session's programs. */
export function tmpOf(folder: string): string {
  return join(folder, ".tmp");
}

/** Creates it with its HOME and TMPDIR, all 0700. */
export async function makeSessionFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  await mkdir(homeOf(folder), { mode: 0o700 });
  await mkdir(tmpOf(folder), { mode: 0o700 });
}

/** The real path of a folder at or below the session's. Throws `invalid_input` for any other. */
export async function folderWithin(folder: string, below = "."): Promise<string> {
  const real = await realPathOf(resolve(folder, below));
  const root = await realpath(folder);
  if (real === root || real?.startsWith(root + sep)) return real;
  throw invalidField(
    "cwd",
    "must be a folder that exists within the session's; leave it out for the session's own",
  );
}

async function realPathOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (isFileError(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENAMETOOLONG")) return undefined;
    if (error instanceof TypeError) return undefined; // a NUL in the path
    throw error;
  }
}

/** Works even if folders in it are read-only, like Go's module cache. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch (error) {
    if (!isFileError(error, "EACCES", "EPERM", "ENOTEMPTY")) throw error;
    await openFolders(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function openFolders(folder: string): Promise<void> {
  if (!(await lstat(folder)).isDirectory()) return;
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(join(folder, entry.name));
  }
}

const RECORD = "owner.json";
const OWNED = /^server-[0-9a-f]{16}$/;

/**
 * Each open provider has its own folder for sessions; folders of killed processes are removed.
 *
 * Two servers may use the same root, so nothing is removed while its process lives. A process id is not enough (in a container
 * the next server has the same one), so the owner's record also has the process's start time. Records of another machine,
 * and unreadable ones, are left alone.
 *
 * Creates a private folder for this process's sessions under the root.
 */
export async function makeOwnFolder(root: string): Promise<string> {
  await makePrivateFolder(root);
  const folder = join(root, `server-${randomBytes(8).toString("hex")}`);
  await mkdir(folder, { mode: 0o700 });
  const owner = { pid: process.pid, began: await beginningOf(process.pid), host: hostname() };
  await writeFile(join(folder, RECORD), JSON.stringify(owner), { flag: "wx", mode: 0o600 });
  return folder;
}

/** Ends the processes and removes the folders of owners that no longer run. A folder that cannot be removed is left. */
export async function removeStaleSessions(root: string): Promise<void> {
  const names = await unlessMissing(readdir(root), []);
  for (const name of names.filter((each) => OWNED.test(each))) {
    const folder = join(root, name);
    if (await isOwnerGone(folder)) await removeOwned(folder).catch(() => undefined);
  }
}

async function removeOwned(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const session of entries.filter((entry) => entry.isDirectory())) {
    await endProcessesAtHome(homeOf(join(folder, session.name)));
  }
  await removeFolder(folder);
}

async function isOwnerGone(folder: string): Promise<boolean> {
  const owner = await readOwner(folder);
  if (owner === undefined || owner.host !== hostname()) return false;
  return (await beginningOf(owner.pid)) !== owner.began;
}

async function readOwner(
  folder: string,
): Promise<{ readonly pid: number; readonly began: string; readonly host: string } | undefined> {
  try {
    const { pid, began, host } = JSON.parse(await readFile(join(folder, RECORD), "utf8"));
    const isOwner = Number.isInteger(pid) && typeof began === "string" && typeof host === "string";
    return isOwner ? { pid, began, host } : undefined;
  } catch {
    return undefined;
  }
}

/** A process's start time as an opaque text for comparison; empty if there is no such process. */
async function beginningOf(pid: number): Promise<string> {
  return process.platform === "linux" ? beginningByProc(pid) : beginningByPs(pid);
}

/** Boot id and start time in clock ticks: field 22, counted after the name, which may contain spaces and brackets. */
async function beginningByProc(pid: number): Promise<string> {
  try {
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
    return `${boot.trim()} ${ticks}`;
  } catch {
    return "";
  }
}

function beginningByPs(pid: number): Promise<string> {
  return new Promise((resolve) => {
    execFile("ps", ["-o", "lstart=", "-p", String(pid)], (error, stdout) => {
      resolve(error === null ? stdout.trim() : "");
    });
  });
}
