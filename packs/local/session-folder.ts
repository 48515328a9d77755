/**
 * The folder of one session: private to its owner, with checked paths, and always removable.
 *
 * Threat: a program in the session plants symbolic links so that the next program or the removal works outside the folder, or
 * removes permissions so that the folder cannot be deleted. Defence: a working folder is checked by its real path, and removal
 * restores permissions of folders, never of link targets.
 */
import { chmod, lstat, mkdir, readdir, realpath, rm } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { invalidField } from "../../engine/errors.ts";
import { isFileError } from "../../engine/private-file.ts";

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
