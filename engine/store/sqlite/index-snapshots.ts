/**
 * Copies of search indexes, in files beside the database.
 *
 * A copy holds every value of a namespace a second time. So its file is encrypted under a random key of its own, and this key stands
 * in one row of the database alone, sealed under the memory's key. Triggers delete the row in the transaction that deletes or
 * replaces a value of the namespace, in whatever program: what is left of the file then opens for nobody, also not with the memory's
 * key and an older database. The attacker may change, exchange and copy files and rows: the row binds store, namespace, build, place
 * in the change feed, time and file; and each part of the file its number, and whether it is the last.
 */
import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { constants, type FileHandle, lstat, open, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { HelmdeckError } from "../../errors.ts";
import { makePrivateFolder, removeOld } from "../../private-file.ts";
import { type Chunk, openChunk, sealChunk } from "../backup/sealed-file.ts";
import { seqOfCursor } from "../cursors.ts";
import type { IndexSnapshots, SnapshotFacts } from "../memory-store.ts";
import type { Namespace } from "../namespace.ts";
import type { Sealer, SnapshotColumns } from "../sealing.ts";
import type { StoreClock } from "../store-clock.ts";
import { readRevision } from "./change-feed.ts";
import type { GuardedCalls } from "./guarded-calls.ts";
import type { SqliteConnection, SqliteRow } from "./sqlite-driver.ts";
import { isSchemaMismatch } from "./sqlite-errors.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import type { WriteTransactions } from "./transactions.ts";

/**
 * Not a migration, so that the last version still opens the file; and in the database, so that it holds for that version, too. Each
 * value has its own digest under each key, so a change of keys ends a copy as well.
 */
const TABLE = `
  CREATE TABLE IF NOT EXISTS index_snapshots (
    namespace TEXT PRIMARY KEY,
    name      TEXT NOT NULL,
    build     TEXT NOT NULL,
    cursor    INTEGER NOT NULL,
    made_at   INTEGER NOT NULL,
    sealed    BLOB NOT NULL
  ) STRICT;
  CREATE TRIGGER IF NOT EXISTS snapshots_end_with_entry AFTER DELETE ON entries
    BEGIN DELETE FROM index_snapshots WHERE namespace = OLD.namespace; END;
  CREATE TRIGGER IF NOT EXISTS snapshots_end_with_value AFTER UPDATE OF namespace, digest ON entries
    WHEN OLD.digest IS NOT NEW.digest OR OLD.namespace IS NOT NEW.namespace
    BEGIN DELETE FROM index_snapshots WHERE namespace = OLD.namespace; END;
`;

const KEY_BYTES = 32;
/** OpenClaw excludes this ending from its backups. */
const NAME = /^[0-9a-f]{32}\.tmp$/;
const LENGTH_BYTES = 4;
/** Another process may be writing a file that has no row yet. */
const UNUSED_AFTER_MS = 60 * 60_000;

/** Beside the database, with a name that no version takes for a copy of the database. */
export function snapshotFolder(databasePath: string): string {
  return join(dirname(databasePath), `indexes-of-${basename(databasePath)}`);
}

/** How much the copies take; undefined if the folder's name leads elsewhere: nothing is read, written or deleted there. */
export async function snapshotBytes(databasePath: string): Promise<number | undefined> {
  const folder = snapshotFolder(databasePath);
  if (await leadsElsewhere(folder)) return undefined;
  const sizes = (await namesIn(folder)).map((name) => lstat(join(folder, name)).catch(() => ({ size: 0 })));
  return (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0);
}

interface SnapshotParts {
  readonly session: SqliteSession;
  readonly sealer: Sealer;
  readonly clock: StoreClock;
  readonly calls: GuardedCalls;
  readonly transactions: WriteTransactions;
}

export class SqliteSnapshots implements IndexSnapshots {
  readonly #parts: SnapshotParts;
  readonly #folder: string;

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
    this.#folder = snapshotFolder(parts.session.path);
  }

  async load(namespace: Namespace, build: string) {
    const { sealer, clock, calls } = this.#parts;
    const opened = await calls.perform(() => {
      const [row, columns] = this.#rowOf(namespace) ?? [];
      if (columns === undefined || !(row?.sealed instanceof Uint8Array)) return undefined;
      // While the clock was ahead, expired entries were left out that show again now.
      if (columns.build !== build || columns.madeAt > clock.now()) return undefined;
      const key = sealer.openSnapshotKey(columns, row.sealed);
      return key?.byteLength === KEY_BYTES ? { columns, key: createSecretKey(key) } : undefined;
    });
    if (opened === undefined) return undefined;
    const { columns, key } = opened;
    if (await leadsElsewhere(this.#folder)) return undefined;
    return { cursor: columns.cursor, parts: readParts(join(this.#folder, columns.name), columns.name, key) };
  }

  has(namespace: Namespace, build: string): Promise<boolean> {
    return this.#parts.calls.perform(() => this.#rowOf(namespace)?.[1].build === build);
  }

  async save(
    namespace: Namespace,
    { build, cursor }: SnapshotFacts,
    parts: Iterable<Uint8Array>,
  ): Promise<boolean> {
    const { calls, transactions } = this.#parts;
    transactions.requireWritable();
    const name = `${randomBytes(16).toString("hex")}.tmp`;
    const path = join(this.#folder, name);
    const key = randomBytes(KEY_BYTES);
    let isKept = false;
    try {
      if (await leadsElsewhere(this.#folder))
        throw new HelmdeckError("store_unavailable", `${this.#folder} is no folder, or a link to one.`);
      await makePrivateFolder(this.#folder);
      await writeParts(path, name, { key: createSecretKey(key), parts });
      isKept = await calls.write(() =>
        transactions.writeIfFree(({ moment }) =>
          this.#insert({ namespace, name, build, cursor, madeAt: moment.now }, key),
        ),
      );
    } finally {
      key.fill(0);
      if (!isKept) await rm(path, { force: true });
    }
    await this.removeUnused();
    return isKept;
  }

  /** Deletes copies that open for nobody any more, and nothing else. */
  async removeUnused(): Promise<void> {
    if (await leadsElsewhere(this.#folder)) return;
    const names = await namesIn(this.#folder);
    if (names.length === 0) return;
    const used = await this.#parts.calls.perform(() => new Set(usedIn(this.#parts.session)));
    const before = Date.now() - UNUSED_AFTER_MS;
    for (const name of names) if (!used.has(name)) await removeOld(join(this.#folder, name), before);
  }

  /** Its file becomes visible with its row. */
  #insert(columns: SnapshotColumns, key: Uint8Array): boolean {
    const { session, sealer } = this.#parts;
    const { namespace, name, build, cursor, madeAt } = columns;
    if (readRevision(session, namespace as Namespace) > seqOfCursor(cursor)) return false;
    session.connection.exec(TABLE);
    session
      .statement(
        "INSERT OR REPLACE INTO index_snapshots (namespace, name, build, cursor, made_at, sealed) VALUES (?, ?, ?, ?, ?, ?)",
      )
      .run(namespace, name, build, cursor, madeAt, sealer.sealSnapshotKey(columns, key));
    return true;
  }

  #rowOf(namespace: Namespace): readonly [SqliteRow, SnapshotColumns] | undefined {
    const [row] = selectIn(this.#parts.session, "* FROM index_snapshots WHERE namespace = ?", namespace);
    if (row === undefined) return undefined;
    const { name, build, cursor, made_at: madeAt } = row;
    const columns = { namespace, name: `${name}`, build: `${build}` };
    return [row, { ...columns, cursor: Number(cursor), madeAt: Number(madeAt) }];
  }
}

/** For a copy of the database, which has no such files beside it. */
export function dropSnapshots(connection: SqliteConnection): void {
  const table = "SELECT 1 AS there FROM sqlite_schema WHERE type = 'table' AND name = 'index_snapshots'";
  if (connection.prepare(table).get() === undefined) return;
  connection.exec("PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON; DELETE FROM index_snapshots;");
}

/** A link could make any folder ours. */
async function leadsElsewhere(folder: string): Promise<boolean> {
  return (await lstat(folder).catch(() => undefined))?.isDirectory() === false;
}

/** The files in it that may be copies. */
async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(() => [])).filter((name) => NAME.test(name));
}

function usedIn(session: SqliteSession): readonly string[] {
  return selectIn(session, "name FROM index_snapshots").map(({ name }) => `${name}`);
}

/** Nothing while no copy was ever made. */
function selectIn(
  session: SqliteSession,
  select: string,
  ...values: readonly string[]
): readonly SqliteRow[] {
  try {
    return session.statement(`SELECT ${select}`).all(...values);
  } catch (error) {
    if (isSchemaMismatch(error)) return [];
    throw error;
  }
}

interface Writing {
  readonly key: KeyObject;
  readonly parts: Iterable<Uint8Array>;
}

/**
 * Each part after its length. An empty one ends the file, so that a shorter file is no file. Nothing is synced: after a power cut, an
 * incomplete file does not open.
 */
async function writeParts(path: string, name: string, { key, parts }: Writing): Promise<void> {
  const line = Buffer.from(name);
  const handle = await open(path, "wx", 0o600);
  const append = async (chunk: Omit<Chunk, "fileKey" | "line">, content: Uint8Array): Promise<void> => {
    const sealed = sealChunk({ ...chunk, fileKey: key, line }, content);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32LE(sealed.byteLength);
    await handle.appendFile(length);
    await handle.appendFile(sealed);
  };
  try {
    await handle.chmod(0o600); // the umask may have removed bits that the owner needs
    let number = 0;
    for (const content of parts) {
      await append({ number, isLast: false }, content);
      number += 1;
    }
    await append({ number, isLast: true }, new Uint8Array(0));
  } finally {
    await handle.close();
  }
}

/** Follows no link: closing another descriptor of the database would drop SQLite's locks. Does not wait for a pipe's writer. */
async function* readParts(path: string, name: string, fileKey: KeyObject): AsyncGenerator<Uint8Array> {
  const line = Buffer.from(name);
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const reader = new PartReader(handle, (await handle.stat()).size);
    for (let number = 0; ; number += 1) {
      const sealed = await reader.next();
      const content = openChunk({ fileKey, line, number, isLast: false }, sealed);
      if (content !== undefined) yield content;
      else if (openChunk({ fileKey, line, number, isLast: true }, sealed) !== undefined) return;
      else throw damaged();
    }
  } finally {
    await handle.close();
  }
}

/** Each part is valid until the next one: they share memory. */
class PartReader {
  readonly #handle: FileHandle;
  readonly #size: number;
  #memory = Buffer.alloc(0);

  constructor(handle: FileHandle, size: number) {
    this.#handle = handle;
    this.#size = size;
  }

  async next(): Promise<Buffer> {
    const length = (await this.#bytes(LENGTH_BYTES)).readUInt32LE();
    if (length > this.#size) throw damaged();
    return this.#bytes(length);
  }

  async #bytes(count: number): Promise<Buffer> {
    if (this.#memory.length < count) this.#memory = Buffer.allocUnsafeSlow(count);
    for (let filled = 0; filled < count; ) {
      const { bytesRead } = await this.#handle.read(this.#memory, filled, count - filled);
      if (bytesRead === 0) throw damaged();
      filled += bytesRead;
    }
    return this.#memory.subarray(0, count);
  }
}

/** Never shown: the index is built from rows then. */
function damaged(): Error {
  return new Error("The copy of a search index is damaged.");
}
