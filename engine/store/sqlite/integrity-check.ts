/**
 * Checks whether a database and its log belong together. Runs when something wrote the file without announcing it
 * (`checkpoint.ts`), such as a backup copied over it while it was open.
 */
import { lastForget } from "./forgets.ts";
import type { SqliteDriver } from "./sqlite-driver.ts";
import { SqliteSession } from "./sqlite-session.ts";
import { readStoreRow, type StoreRow } from "./store-row.ts";

/**
 * Reads the store's own row from database and log; undefined if they are damaged because the log belongs to another database.
 * Reads the whole file.
 */
export async function readIntactStoreRow(driver: SqliteDriver, path: string): Promise<StoreRow | undefined> {
  if (!(await driver.isWhole(path))) return undefined;
  const connection = await driver.open(path, "read");
  try {
    const session = new SqliteSession(connection, path);
    return session.read(() => {
      const row = readStoreRow(session);
      return hasLastChange(session, row) ? row : undefined;
    });
  } catch {
    return undefined;
  } finally {
    connection.close();
  }
}

/** Every write leaves an entry, a removal or a delete with the last number. */
function hasLastChange(session: SqliteSession, { history }: StoreRow): boolean {
  const newest = (table: "entries" | "removals"): number =>
    Number(session.statement(`SELECT max(seq) AS seq FROM ${table}`).get()?.seq);
  return (
    Math.max(newest("entries"), newest("removals"), lastForget(session), history.prunedThrough) ===
    history.lastSeq
  );
}
