/**
 * Checks the owner of a database file before it is opened.
 *
 * The danger is a wrong path: opening another program's database for writing would change its settings, checkpoint its log and
 * delete it. So its first page is read first, without changing anything, and any database but ours is left alone.
 */
import { HelmdeckError } from "../../errors.ts";
import { isOpenInThisProcess, stat } from "./file-watch.ts";
import { readingBytes } from "./read-bytes.ts";
import { APPLICATION_ID } from "./schema.ts";
import type { SqliteConnection, SqliteDriver } from "./sqlite-driver.ts";
import { framesOf, walHeaderOf } from "./wal-frames.ts";

const FIRST_PAGE_BYTES = 4_096;

/** Throws `store_not_ours` unless the file is ours, empty, or a database without content. Changes nothing. */
export async function requireOwnFile(file: string, driver: SqliteDriver): Promise<void> {
  const found = stat(file);
  if (found === undefined || found.size === 0) return;
  // Reading it would drop the locks of other code in this process that has it open.
  const page = isOpenInThisProcess(found)
    ? await readPageThroughDriver(file, driver)
    : readPageDirectly(file);
  if (page === "unknown") return;
  if (page === undefined && isBeingCreated(file, found)) return;
  if (page === undefined) throw notOurs(file, "is not a SQLite database, or its first page was overwritten");
  if (isOurs(page.isBlank ? withWal(page, `${file}-wal`) : page)) return;
  throw notOurs(file, "is the SQLite database of another program");
}

function isOurs({ applicationId, isBlank }: FirstPage): boolean {
  return applicationId === APPLICATION_ID || isBlank;
}

/** A power cut tore the very first page; SQLite rolls it back from the journal beside it. */
function isBeingCreated(file: string, { size }: { readonly size: number }): boolean {
  return size <= FIRST_PAGE_BYTES && (stat(`${file}-journal`)?.size ?? 0) > 0;
}

/** A new database may exist in the log only. */
function withWal(page: FirstPage, log: string): FirstPage {
  try {
    return (stat(log)?.size ?? 0) > 0 ? (firstPageInWal(log) ?? page) : page;
  } catch {
    return page;
  }
}

/** An unreadable file is left to SQLite to refuse. */
function readPageDirectly(file: string): FirstPage | undefined | "unknown" {
  try {
    return firstPageOf(file);
  } catch {
    return "unknown";
  }
}

/** Through the library that has it open, if that can read without a lock; otherwise the holder is ourselves. */
async function readPageThroughDriver(
  file: string,
  driver: SqliteDriver,
): Promise<FirstPage | undefined | "unknown"> {
  if (driver.openBeside === undefined) return "unknown";
  const connection = await driver.openBeside(file).catch(() => undefined);
  try {
    return connection && firstPageFrom(connection);
  } catch {
    return undefined;
  } finally {
    connection?.close();
  }
}

function firstPageFrom(connection: SqliteConnection): FirstPage {
  const number = (sql: string): number => Number(Object.values(connection.prepare(sql).get() ?? {})[0]);
  const applicationId = number("PRAGMA application_id");
  const isUnmarked = applicationId === 0 && number("PRAGMA user_version") === 0;
  return { applicationId, isBlank: isUnmarked && number("SELECT count(*) FROM sqlite_schema") === 0 };
}

function notOurs(path: string, what: string): HelmdeckError {
  return new HelmdeckError("store_not_ours", `${path} ${what}. It was not changed; check the path.`, {
    details: { path },
  });
}

/** `blank`: a database without any content. */
interface FirstPage {
  readonly applicationId: number;
  readonly isBlank: boolean;
}

const MAGIC = Buffer.from("SQLite format 3\0", "latin1");
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;
/** The header, and the beginning of the schema table. */
const READ_BYTES = 112;
const SCHEMA_AT = 100;
const LEAF_OF_TABLE = 0x0d;
const CELLS_AT = SCHEMA_AT + 3;

/**
 * Reads a database's identity from the first bytes of its first page, without SQLite.
 *
 * SQLite cannot open a file in WAL mode without leaving something behind, if only an empty log. So the page is read as the file
 * format specifies (sqlite.org/fileformat2.html): from the database or, while that is blank, from its log.
 *
 * Undefined when it is not a SQLite database. Only for a file that this process does not hold: closing it drops its locks.
 */
function firstPageOf(path: string): FirstPage | undefined {
  return readingBytes(path, (read) => parse(read(0, READ_BYTES)));
}

/** The page as of the last commit in the log; undefined when no commit holds it. SQLite never locks a log. */
function firstPageInWal(path: string): FirstPage | undefined {
  return readingBytes(path, (read) => {
    const header = walHeaderOf(read);
    if (header === undefined) return undefined;
    let written: FirstPage | undefined;
    let committed: FirstPage | undefined;
    for (const { page, committedPages, salts, content } of framesOf(read, header)) {
      if (!salts.equals(header.salts)) break;
      if (page === 1) written = parse(content.subarray(0, READ_BYTES));
      if (committedPages !== 0) committed = written;
    }
    return committed;
  });
}

function parse(bytes: Buffer): FirstPage | undefined {
  if (bytes.length < SCHEMA_AT || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const applicationId = bytes.readUInt32BE(APPLICATION_ID_AT);
  const isUnmarked = applicationId === 0 && bytes.readUInt32BE(USER_VERSION_AT) === 0;
  return { applicationId, isBlank: isUnmarked && hasNoTables(bytes) };
}

function hasNoTables(bytes: Buffer): boolean {
  return (
    bytes.length === READ_BYTES && bytes[SCHEMA_AT] === LEAF_OF_TABLE && bytes.readUInt16BE(CELLS_AT) === 0
  );
}
