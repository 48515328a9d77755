/**
 * Locates the database file, and creates it if needed, before SQLite opens it.
 *
 * SQLite would create a missing file with the umask's mode, and follow a dangling link. So the file is created here, empty and
 * private; `-wal` and `-shm` inherit its mode. Nothing here opens an existing database: closing the descriptor would drop
 * SQLite's locks on it in this process.
 */
import { access, constants, lstat, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { HelmdeckError } from "../../errors.ts";
import { deadEndOf, fullOrReadonly, isFileError, makePrivateFolder, placeOnce } from "../../private-file.ts";

/**
 * The real path of a writable database file, created empty if there was none.
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

/** The real path of an existing database file, for reading. Throws `store_unavailable`, `store_corrupt`. */
export async function findDatabase(path: string): Promise<string> {
  const wanted = resolve(path);
  return explained(wanted, async () => {
    if (!(await isThere(wanted))) throw nothingStored(wanted);
    const file = await realpath(wanted);
    await refuseEmptied(file);
    return file;
  });
}

/** The real path of what is there; undefined for a missing file. Throws `store_unavailable` where the path leads nowhere. */
export function realPathOf(path: string): Promise<string | undefined> {
  return explained(path, () => realpath(path).catch((error: unknown) => absent(path, error)));
}

/** False when nothing exists; throws for anything but a regular file or a link to one. */
async function isThere(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: unknown) => absent(path, error));
  if (found === undefined) return wasJustCreated(path);
  if (found.isDirectory())
    throw unavailable(path, "is a folder, not a file; correct the path, or move the folder away");
  if (!found.isFile()) throw unavailable(path, "is not a regular file");
  if (found.size === 1) throw notOurs(path);
  return true;
}

/** True when another process has created the file since we checked; throws for a dangling link. */
async function wasJustCreated(path: string): Promise<boolean> {
  const found = await lstat(path).catch((error: unknown) => absent(path, error));
  if (found?.isSymbolicLink() === true) {
    throw unavailable(path, "is a symbolic link to a missing file");
  }
  return found !== undefined;
}

function absent(path: string, error: unknown): undefined {
  if (isFileError(error, "ENOENT")) return undefined;
  const why = deadEndOf(error);
  throw why === undefined ? error : unavailable(path, why, error);
}

/**
 * SQLite takes an empty file for a new database and deletes the log beside it, with all data that was not checkpointed. Check the
 * log first: a database that is just being created has its first page before it has a log.
 */
async function refuseEmptied(file: string): Promise<void> {
  if (!(await hasLog(file)) || (await stat(file)).size > 0) return;
  throw new HelmdeckError(
    "store_corrupt",
    `The memory database ${file} is empty, but its log ${file}-wal holds data. ` +
      "Keep both files, and restore from a backup.",
    { details: { path: file } },
  );
}

/** A log without its database: a new database would adopt the log, and the old one could not come back. */
async function refuseOrphanedLog(file: string): Promise<void> {
  if (!(await hasLog(file))) return;
  throw new HelmdeckError(
    "store_corrupt",
    `The memory database ${file} is missing, but its log ${file}-wal still holds data. Put the database back ` +
      "beside it. To start over, stop every process that uses it and move the log away.",
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
  const known = fullOrReadonly(path, cause, {
    full: `the memory database ${path} cannot be created`,
    readonly: `The memory database ${path} is read-only. Make the file and its folder writable.`,
  });
  if (known !== undefined) return known;
  return unavailable(
    path,
    deadEndOf(cause) ?? "cannot be created or found; check each folder on its path",
    cause,
  );
}

/** SQLite takes a one-byte file for an empty one and would overwrite it. */
function notOurs(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_not_ours",
    `${path} holds one byte and is not a database. It was not changed; check the path.`,
    { details: { path } },
  );
}

/** `nothingStored` distinguishes a memory that was never used from one that cannot be reached. */
function nothingStored(path: string): HelmdeckError {
  return new HelmdeckError(
    "store_unavailable",
    `The memory database ${path} does not exist; nothing has been stored yet.`,
    { details: { path, nothingStored: true } },
  );
}

function unavailable(path: string, why: string, cause?: unknown): HelmdeckError {
  return new HelmdeckError("store_unavailable", `The memory database ${path} ${why}.`, {
    details: { path },
    cause,
  });
}
