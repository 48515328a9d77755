/**
 * Checks the owner of a database file before it is opened.
 *
 * The danger is a wrong path: opening another program's database for writing would change its settings, checkpoint its log and
 * delete it. So its first page is read first, without changing anything, and any database but ours is left alone.
 */
import { HelmdeckError } from "../../errors.ts";
import { isOpenInThisProcess, stat } from "./file-watch.ts";
import { type FirstPage, firstPageInWal, firstPageOf } from "./first-page.ts";
import { APPLICATION_ID } from "./schema.ts";
import type { SqliteConnection, SqliteDriver } from "./sqlite-driver.ts";

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
