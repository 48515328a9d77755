/** Turns stored rows into changes, for any back end. */
import { isExpired } from "./entry-rules.ts";
import type { Changes, EntryId, UnixMs } from "./memory-store.ts";
import type { Sealer } from "./sealing.ts";
import { openRows, type StoredRow } from "./stored-rows.ts";

/** An entry that was written and has expired since counts as removed: a reader may hold an older version with a later expiry. */
export function openChanges(
  page: readonly StoredRow[],
  sealer: Sealer,
  now: UnixMs,
): Pick<Extract<Changes, { kind: "changes" }>, "upserts" | "removed" | "unreadable"> {
  const isGone = (row: StoredRow): boolean =>
    !("sealed" in row) || (typeof row.expires_at === "number" && isExpired(row.expires_at, now));
  const { entries, unreadable } = openRows(
    page.filter((row) => !isGone(row)),
    sealer,
  );
  const removed = page.filter(isGone).map((row) => `${row.id}` as EntryId); // ids are only ever written by us
  return { upserts: entries, removed, unreadable };
}
