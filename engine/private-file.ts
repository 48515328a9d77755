/**
 * Creates private files and folders atomically.
 *
 * Dangers: another account on the machine; a power cut; a second process doing the same. So modes are 0600 and 0700 from the
 * start, a file gets its name only when its bytes are on disk, and a name is given only once (link fails when a file exists). An
 * existing file is never opened here: closing a descriptor of a database would drop SQLite's locks on it in this process. Root,
 * whom modes do not stop, creates nothing in another account's folder.
 */
import { randomBytes } from "node:crypto";
import { chmod, link, lstat, mkdir, open, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { HelmdeckError, systemCodeOf } from "./errors.ts";

/**
 * Creates the folder and its missing parents with mode 0700. An existing one is left unchanged.
 *
 * @throws `store_unavailable` when root would create something in another account's folder, which that account then could not
 * open.
 */
export async function makePrivateFolder(folder: string): Promise<void> {
  await refuseForeignFolder(folder);
  await makeFolder(folder);
}

async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const above = dirname(folder);
  await makeFolder(above);
  try {
    await mkdir(folder, { mode: 0o700 });
    await chmod(folder, 0o700); // the umask may have removed bits that the owner needs
    await syncFolder(above);
  } catch (error) {
    if (!isFileError(error, "EEXIST") || !(await isFolder(folder))) throw error;
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** The owner of a file or folder, when this process runs as root and the owner is another account: modes do not stop root. */
export function foreignOwner({ uid }: { readonly uid: number }): number | undefined {
  return process.geteuid?.() === 0 && uid !== 0 ? uid : undefined;
}

/** Checks the folder, or its nearest existing parent. */
async function refuseForeignFolder(folder: string): Promise<void> {
  const found = await unlessMissing(stat(folder), undefined);
  if (found === undefined && folder !== dirname(folder)) return refuseForeignFolder(dirname(folder));
  const owner = found && foreignOwner(found);
  if (owner === undefined) return;
  throw new HelmdeckError(
    "store_unavailable",
    `The folder ${folder} belongs to another account (uid ${owner}), but this process runs as root. That account could not ` +
      "open what root creates there. Run as that account, or choose a folder that root owns.",
    { details: { path: folder, owner } },
  );
}

/**
 * Creates a file with these bytes unless something exists at the path; returns whether it did. The name is on stable storage when
 * this resolves, also when another process was faster.
 */
export async function placeOnce(path: string, bytes: Uint8Array): Promise<boolean> {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    await writeSynced(draft, bytes);
    const placed = await linkOnce(draft, path);
    await syncFolder(dirname(path));
    return placed;
  } finally {
    // Best effort: the original error, if any, matters more.
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

/** A file's name is durable only once its folder is synced; some network file systems do not support that. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } catch (error) {
    if (!isFileError(error, "EINVAL", "ENOTSUP")) throw error;
  } finally {
    await handle.close();
  }
}

/** Creates a private file. Its bytes are on stable storage when this resolves, its name is once its folder is synced. */
export async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.chmod(0o600); // the umask may have removed bits that the owner needs
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function linkOnce(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (isFileError(error, "EEXIST")) return false;
    throw error;
  }
}

/**
 * Deletes what a killed process left: a regular file of this name that nobody wrote since. The caller knows that only we make such
 * names. One that cannot be deleted stays, so that others are still tried.
 */
export async function removeOld(path: string, beforeMs: number): Promise<void> {
  const file = await lstat(path).catch(() => undefined);
  if (file?.isFile() && file.mtimeMs <= beforeMs) await rm(path, { force: true }).catch(() => undefined);
}

/** Whether this is a file system error with one of these codes. */
export function isFileError(error: unknown, ...codes: readonly string[]): error is NodeJS.ErrnoException {
  return error instanceof Error && codes.includes(systemCodeOf(error));
}

/** `store_full` or `store_readonly` if that is why a file cannot be written; else undefined. */
export function fullOrReadonly(
  path: string,
  cause: unknown,
  said: { readonly full: string; readonly readonly: string },
): HelmdeckError | undefined {
  const options = { details: { path }, cause };
  if (isFileError(cause, "ENOSPC", "EDQUOT"))
    return new HelmdeckError("store_full", `The disk is full, so ${said.full}. Free some space.`, options);
  if (isFileError(cause, "EACCES", "EPERM", "EROFS"))
    return new HelmdeckError("store_readonly", said.readonly, options);
  return undefined;
}

/** What is wrong with a path, by the system's code, and its remedy. */
const DEAD_ENDS: Readonly<Record<string, string>> = {
  ENOTDIR: "leads through a file where a folder should be; correct the path, or move the file away",
  ELOOP: "leads through symbolic links that form a loop; correct the links, or the path",
  ENAMETOOLONG: "is longer than its file system allows; choose a shorter path",
  EISDIR: "is a folder, not a file; correct the path, or move the folder away",
  EROFS: "is on a file system that is mounted read-only; mount it writable, or choose another path",
  EACCES: "is in a folder that this account cannot use; check the owner and mode of each folder on the path",
};

/** Words that follow the path; undefined for other failures, such as a missing file. */
export function deadEndOf(error: unknown): string | undefined {
  const code = systemCodeOf(error);
  return DEAD_ENDS[code === "EPERM" ? "EACCES" : code];
}

/** The result of the work, or the alternative when the file or folder is missing. */
export async function unlessMissing<T, Other>(work: Promise<T>, otherwise: Other): Promise<T | Other> {
  return work.catch((error: unknown) => {
    if (isFileError(error, "ENOENT")) return otherwise;
    throw error;
  });
}
