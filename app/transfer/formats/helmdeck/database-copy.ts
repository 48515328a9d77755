/**
 * Copies helmdeck's database and its log to a temporary private folder.
 *
 * A copy, because opening a database creates files beside it, and the last close may rewrite it. The log, because recent writes
 * and deletes are only there; without it, the database still shows deleted rows.
 */
import { copyFile, lstat, mkdtemp, open, readdir, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HelmdeckError, isHelmdeckError, systemCodeOf } from "../../../../engine/errors.ts";
import { isFileError, unlessMissing } from "../../../../engine/private-file.ts";
import { nodeSqliteDriver } from "../../../../engine/store/sqlite/node-sqlite-driver.ts";
import type { SqliteConnection } from "../../../../engine/store/sqlite/sqlite-driver.ts";
import { removeOnSignal } from "../../remove-on-signal.ts";

/** For a database that is being written, until a copy is consistent. */
const MOST_TRIES = 5;
/** The byte in SQLite's header that shows that a database has a log. */
const READ_VERSION_AT = 19;
const WITH_LOG = 2;
const FOLDER_NAME = "helmdeck-memory-import-";
/** With the process and mkdtemp's six characters. */
const FOLDER = /^helmdeck-memory-import-(\d+)-[A-Za-z0-9]{6}$/;

export interface DatabaseCopy {
  readonly connection: SqliteConnection;
  /** The database is in WAL mode but has no log: either helmdeck was stopped, or the database was copied without it. */
  readonly lacksLog: boolean;
  /** Also deletes the copy. */
  readonly close: () => Promise<void>;
}

/** Throws `invalid_input`, `store_locked`, `store_full` or `store_not_ours`. */
export async function openCopy(name: string): Promise<DatabaseCopy> {
  const folder = await privateFolder();
  const stopWatching = removeOnSignal(folder);
  const remove = async (): Promise<void> => {
    await rm(folder, { recursive: true, force: true });
    stopWatching();
  };
  try {
    const copy = join(folder, "helmdeck.db");
    await copyWhole(await databaseAt(name), copy);
    const isAlone = await lacksLog(copy); // opening a connection creates one
    const connection = await nodeSqliteDriver.open(copy, "read");
    return { connection, lacksLog: isAlone, close: () => closed(connection).finally(remove) };
  } catch (error) {
    await remove();
    throw explained(error, name);
  }
}

/** Private, and named after the process, which shows whether it is still in use. */
async function privateFolder(): Promise<string> {
  const folder = tmpdir();
  await removeAbandoned(folder);
  return mkdtemp(join(folder, `${FOLDER_NAME}${process.pid}-`)).catch((cause: unknown) => {
    const message = `Cannot create a folder for a copy of the database in ${folder}; set TMPDIR to a writable folder.`;
    throw new HelmdeckError("store_unavailable", message, { cause });
  });
}

/** Removes copies of killed imports: of this account, since root could delete anybody's. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = Number(FOLDER.exec(name)?.[1]);
    if (!(pid > 0) || isRunning(pid)) continue;
    const copy = await lstat(join(folder, name)).catch(() => undefined);
    if (copy?.isDirectory() && copy.uid === process.geteuid?.())
      await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined); // the import goes on
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return systemCodeOf(error) !== "ESRCH";
  }
}

async function lacksLog(path: string): Promise<boolean> {
  const log = await unlessMissing(stat(`${path}-wal`), undefined);
  if (log !== undefined && log.size > 0) return false;
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(READ_VERSION_AT + 1), 0, READ_VERSION_AT + 1, 0);
    return buffer[READ_VERSION_AT] === WITH_LOG;
  } finally {
    await file.close();
  }
}

/** The real file: a log is beside it, not beside a link to it. */
async function databaseAt(name: string): Promise<string> {
  try {
    const path = await realpath(name);
    if ((await stat(path)).isFile()) return path;
  } catch (error) {
    throw explained(error, name);
  }
  throw new HelmdeckError(
    "invalid_input",
    `${name} is not a regular file; give helmdeck's database, helmdeck.db.`,
  );
}

async function closed(connection: SqliteConnection): Promise<void> {
  connection.close();
}

async function copyWhole(path: string, to: string): Promise<void> {
  for (let tried = 0; tried < MOST_TRIES; tried += 1) {
    const before = await stampOf(path);
    for (const end of ["", "-wal"]) {
      await rm(`${to}${end}`, { force: true });
      const copying = copyFile(`${path}${end}`, `${to}${end}`);
      await (end === "" ? copying : unlessMissing(copying, undefined));
    }
    if ((await stampOf(path)) === before) return;
  }
  const remedy = "Stop helmdeck, and import again.";
  throw new HelmdeckError("store_locked", `${path} is written too often to get a consistent copy. ${remedy}`);
}

async function stampOf(path: string): Promise<string> {
  const log = await unlessMissing(stat(`${path}-wal`, { bigint: true }), undefined);
  return [await stat(path, { bigint: true }), log]
    .map((found) => (found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeNs}`))
    .join("/");
}

const TROUBLE: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "a part of the path is not a folder",
  EACCES: "permission was denied",
  EPERM: "permission was denied",
};

function explained(error: unknown, name: string): HelmdeckError {
  if (isHelmdeckError(error)) return error;
  if (isFileError(error, "ENOSPC", "EDQUOT")) {
    const message = `${name} must be copied to ${tmpdir()} to be read, but there is not enough space. Free some, or set TMPDIR.`;
    return new HelmdeckError("store_full", message, { cause: error });
  }
  const code = systemCodeOf(error);
  if (code.startsWith("ERR_SQLITE")) return notHelmdecks(name, error);
  return new HelmdeckError(
    "invalid_input",
    `Cannot read ${name}: ${TROUBLE[code] ?? `system error ${code}`}.`,
    {
      cause: error,
    },
  );
}

export function notHelmdecks(name: string, cause?: unknown): HelmdeckError {
  return new HelmdeckError(
    "store_not_ours",
    `${name} is not a helmdeck database (0.14 or later), or it is damaged: its table memory_entries cannot be read.`,
    { cause },
  );
}
