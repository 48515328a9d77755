/**
 * Writes a new private file atomically.
 *
 * An export has every value in plain text, and no other user of the machine may read it, not even while it is written. So it
 * is created with mode 0600 under a temporary name. Both names are created exclusively, so that nobody can plant a link. An
 * interrupted export leaves no file.
 */
import { randomBytes } from "node:crypto";
import { type FileHandle, link, lstat, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { removeOnSignal } from "../app/transfer/remove-on-signal.ts";
import { HelmdeckError, systemCodeOf } from "../engine/errors.ts";
import { syncFolder } from "../engine/private-file.ts";

export type Append = (text: string) => Promise<void>;

/** Calls `write` to fill the file at `path`. Throws `invalid_input` if the path exists or cannot be written. */
export async function writePrivateFile(
  path: string,
  write: (append: Append) => Promise<void>,
): Promise<void> {
  if (await exists(path)) throw taken(path);
  const partPath = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.part`);
  const stopWatching = removeOnSignal(partPath);
  try {
    await fill(await openPart(partPath, path), path, write);
    await publish(partPath, path);
    await syncFolder(dirname(path)); // makes the file's name durable
  } finally {
    stopWatching();
    await unlink(partPath).catch(() => {});
  }
}

function openPart(partPath: string, path: string): Promise<FileHandle> {
  return open(partPath, "wx", 0o600).catch((error: unknown) => Promise.reject(unwritable(path, error)));
}

async function fill(file: FileHandle, path: string, write: (append: Append) => Promise<void>): Promise<void> {
  try {
    await write((text) =>
      file.appendFile(text).catch((error: unknown) => Promise.reject(unwritable(path, error))),
    );
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A hard link fails if the name is taken; a rename would replace the file. */
async function publish(partPath: string, path: string): Promise<void> {
  try {
    await link(partPath, path);
  } catch (error) {
    if (!isLackOfLinks(error)) throw unwritable(path, error);
    await publishWithoutLinks(partPath, path);
  }
}

/** For file systems without hard links (FAT, some network ones): creates the name exclusively, then renames over it. */
async function publishWithoutLinks(partPath: string, path: string): Promise<void> {
  try {
    await (await open(path, "wx", 0o600)).close();
    await rename(partPath, path);
  } catch (error) {
    throw unwritable(path, error);
  }
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function isLackOfLinks(error: unknown): boolean {
  return ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(systemCodeOf(error));
}

function taken(path: string): HelmdeckError {
  const message = `${path} already exists and was not changed. Choose another name for --output, or delete it first.`;
  return new HelmdeckError("invalid_input", message, { details: { path } });
}

function unwritable(path: string, error: unknown): HelmdeckError {
  const systemCode = systemCodeOf(error);
  if (systemCode === "EEXIST") return taken(path);
  const why = WRITE_TROUBLE[systemCode] ?? `the system says ${systemCode}`;
  return new HelmdeckError(
    "invalid_input",
    `Cannot write ${path}: ${why}. Choose a writable place for --output.`,
    {
      details: { path, systemCode },
      cause: error,
    },
  );
}

const WRITE_TROUBLE: Readonly<Record<string, string>> = {
  ENOENT: "its folder does not exist",
  ENOTDIR: "a part of the path is not a folder",
  EACCES: "permission was denied",
  EPERM: "permission was denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
};
