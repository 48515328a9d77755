/**
 * Whether a database and the log beside it belong together: looked at when the file was written by something that did not
 * announce itself (`fold.ts`), such as a backup copied over it while it was open.
 */
import { lastForget } from "./forgets.ts";
import type { SqliteConnection } from "./sqlite-driver.ts";
import { SqliteSession } from "./sqlite-session.ts";
import { readStoreRow, type StoreRow } from "./store-row.ts";

/**
 * What the store says of itself when database and log are read afresh; undefined when they are damaged: what the log was
 * written on top of is not what is there. Reads all of the file.
 */
export function readWhole(connection: SqliteConnection, path: string): StoreRow | undefined {
  const session = new SqliteSession(connection, path);
  try {
    return session.read(() => {
      const row = readStoreRow(session);
      const isWhole = session.pragma("integrity_check(1)") === "ok";
      return isWhole && hasNewest(session, row) ? row : undefined;
    });
  } catch {
    return undefined;
  }
}

/** Every write leaves an entry, a removal or a forget with the last number. */
function hasNewest(session: SqliteSession, { history }: StoreRow): boolean {
  const newest = (table: "entries" | "removals"): number =>
    Number(session.statement(`SELECT max(seq) AS seq FROM ${table}`).get()?.seq);
  return (
    Math.max(newest("entries"), newest("removals"), lastForget(session), history.prunedThrough) ===
    history.lastSeq
  );
}
