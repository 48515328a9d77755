/**
 * Changing the key of a database, while others use it and however often it is interrupted.
 *
 * It begins with one transaction that names the new key and keeps each key sealed under the other, so that from then on
 * either of them opens everything. Rows are then sealed anew in slices. The last transaction takes the former key away.
 * Whoever has the database open meanwhile finds the new key in it; whoever finds out too late opens it again.
 */
import { HEADER_BYTES } from "../envelope.ts";
import { begunChange, finishedChange, type KeyChangeReport, requireChanging } from "../key-change.ts";
import type { MasterKey } from "../master-key.ts";
import type { Sealer } from "../sealing.ts";
import { finishReseal } from "./reseal.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { readStoredKeys, saveStoredKeys } from "./store-row.ts";
import { followKeys } from "./stored-keys.ts";

/** Makes `newKey` the one in use. Both keys open the database from here until {@link finishKeyChange}; beginning again changes nothing. */
export function beginKeyChange(session: SqliteSession, { ring }: Sealer, newKey: MasterKey): void {
  session.write(() => {
    const stored = readStoredKeys(session);
    followKeys(session, ring, stored);
    const changed = begunChange(ring, stored, newKey);
    if (changed === undefined) return;
    saveStoredKeys(session, changed);
    ring.update(changed);
  });
}

/** The last transaction: only the key in use opens the database from here on. */
export function finishKeyChange(session: SqliteSession, sealer: Sealer): Omit<KeyChangeReport, "erased"> {
  const { current, former } = sealer.ring;
  finishReseal(session, sealer, (stored) => finishedChange(sealer.ring, stored));
  const others = session
    .statement(`SELECT count(*) AS n FROM entries WHERE substr(sealed, 1, ${HEADER_BYTES}) <> ?`)
    .get(current.header);
  return { from: former?.id ?? current.id, to: current.id, unreadable: Number(others?.n) };
}

/** In a write transaction. */
export function requireChangeBegun(session: SqliteSession, { ring }: Sealer): void {
  requireChanging(ring, readStoredKeys(session));
}
