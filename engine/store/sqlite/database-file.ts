/**
 * Where the database file is: looked at, and made if need be, before SQLite opens it.
 *
 * SQLite would make a missing file with whatever mode the umask allows, and through a dangling link wherever that points.
 * So the file is made here, empty and for the owner alone; `-wal` and `-shm` take their mode from it. Nothing here opens
 * an existing database: closing the descriptor would drop SQLite's locks on it in this process.
 */
import { access, constants, lstat, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { HelmdeckError } from "../../errors.ts";
import { isFileError, makePrivateFolder, placeOnce } from "../private-file.ts";

/**
 * The real path of a database file that may be written, made empty if there was none.
 *
 * @throws `store_unavailable`, `store_readonly`, `store_full`, `store_corrupt`
 */
export async function placeDatabase(path: string): Promise<string> {
  const wanted = resolve(path);
  return explained(wanted, async () => {
    if (!(await isThere(wanted))) {
      await refuseOrphanedLog(wanted);
      await makePrivateFolder(dirname(wanted));
      await placeOnce(wanted, new Uint8Array(0));
    }
    const file = await realpath(wanted);
    await refuseEmptied(file);
    await access(file, constants.R_OK | constants.W_OK);
    await access(dirname(file), constants.W_OK); // for -wal and -shm
    return file;
  });
}

/** The real path of a database file that is there, to be read. Throws `store_unavailable`, `store_corrupt`. */
export async function findDatabase(path: string): Promise<string> {
  const wanted = resolve(path);
  return explained(wanted, async () => {
    if (!(await isThere(wanted))) throw nothingStored(wanted);
    const file = await realpath(wanted);
    await refuseEmptied(file);
    return file;
  });
}

/** False for nothing at all; throws for anything but a plain file, or a link to one. */
async function isThere(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: unknown) => absent(path, error));
  if (found === undefined) return wasJustMade(path);
  if (found.isDirectory()) throw unavailable(path, "is a folder, and should be a file");
  if (!found.isFile()) throw unavailable(path, "is not a plain file");
  if (found.size === 1) throw notOurs(path);
  return true;
}

/** True when another process made the file since we looked; throws for a link to nothing. */
async function wasJustMade(path: string): Promise<boolean> {
  const found = await lstat(path).catch((error: unknown) => absent(path, error));
  if (found?.isSymbolicLink() === true) {
    throw unavailable(path, "is a symbolic link to a file that is not there");
  }
  return found !== undefined;
}

function absent(path: string, error: unknown): undefined {
  if (isFileError(error, "ENOENT")) return undefined;
  if (isFileError(error, "EACCES", "EPERM")) {
    throw unavailable(
      path,
      "is in a folder that this account may not look into; check owner and mode",
      error,
    );
  }
  throw error;
}

/**
 * SQLite takes an empty file for a new database and deletes the log beside it, and with it everything that was not yet
 * folded in. The log is looked at first: a database that is just being made has its first page before it has a log.
 */
async function refuseEmptied(file: string): Promise<void> {
  if (!(await hasLog(file)) || (await stat(file)).size > 0) return;
  throw new HelmdeckError(
    "store_corrupt",
    `The memory database ${file} has been emptied, but its log ${file}-wal holds data. ` +
      "Keep both files, and restore a backup.",
    { details: { path: file } },
  );
}

/** A log without its database: what is made in its place would take the log for its own, and the other could not come back. */
async function refuseOrphanedLog(file: string): Promise<void> {
  if (!(await hasLog(file))) return;
  throw new HelmdeckError(
    "store_corrupt",
    `The memory database ${file} is gone, but its log ${file}-wal is still there and holds data. Put the database back ` +
      "beside it; to begin anew, stop every process that uses it and move the log away, too.",
    { details: { path: file } },
  );
}

async function hasLog(file: string): Promise<boolean> {
  const log = await stat(`${file}-wal`).catch((error: unknown) => absent(file, error));
  return log !== undefined && log.size > 0;
}

async function explained<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof HelmdeckError ? error : explain(error, path);
  }
}

function explain(cause: unknown, path: string): HelmdeckError {
  const options = { details: { path }, cause };
  if (isFileError(cause, "ENOSPC", "EDQUOT")) {
    return new HelmdeckError(
      "store_full",
      `No room for the memory database ${path}: the disk is full.`,
      options,
    );
  }
  if (isFileError(cause, "EACCES", "EPERM", "EROFS")) {
    return new HelmdeckError(
      "store_readonly",
      `The memory database ${path} cannot be written. Make the file and its folder writable.`,
      options,
    );
  }
  const why = isFileError(cause, "ELOOP")
    ? "leads through symbolic links that go in a circle"
    : "cannot be made or found; check each folder on its path";
  return unavailable(path, why, cause);
}

/** SQLite takes a file of a single byte for an empty one, and would write over it. */
function notOurs(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_not_ours",
    `${path} holds one byte and is no database. It was left as it is; check the path.`,
    { details: { path } },
  );
}

/** `nothingStored` tells a memory that was never used from one that cannot be reached. */
function nothingStored(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    `The memory database ${path} is not there; nothing has been stored yet.`,
    { details: { path, nothingStored: true } },
  );
}

function unavailable(path: string, why: string, cause?: unknown): HelmdeckError {
  return new HelmdeckError("store_unavailable", `The memory database ${path} ${why}.`, {
    details: { path },
    cause,
  });
}
