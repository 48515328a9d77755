/**
 * Changes the key of a database while others use it; can be interrupted at any point.
 *
 * The first transaction makes the new key current and stores each key sealed under the other, so that either of them opens
 * everything from then on. Rows are then resealed in slices. The last transaction removes the former key. Other processes with
 * the database open find the new key in it; one that finds out too late reopens it.
 */
import { HEADER_BYTES } from "../envelope.ts";
import { begunChange, finishedChange, type KeyChangeReport, requireChanging } from "../key-change.ts";
import type { MasterKey } from "../master-key.ts";
import type { Sealer } from "../sealing.ts";
import { finishReseal } from "./reseal.ts";
import { requireNotNewer } from "./schema.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { readStoredKeys, saveStoredKeys } from "./store-row.ts";
import { followKeys } from "./stored-keys.ts";

/** Makes `newKey` the current key. Both keys open the database until {@link finishKeyChange}; calling it again has no effect. */
export function beginKeyChange(session: SqliteSession, { ring }: Sealer, newKey: MasterKey): void {
  session.write(() => {
    requireNotNewer(session);
    const stored = readStoredKeys(session);
    followKeys(session, ring, stored);
    const changed = begunChange(ring, stored, newKey);
    if (changed === undefined) return;
    saveStoredKeys(session, changed);
    ring.update(changed);
  });
}

/** The last transaction: afterwards only the current key opens the database. */
export function finishKeyChange(session: SqliteSession, sealer: Sealer): Omit<KeyChangeReport, "erased"> {
  const { current, former } = sealer.ring;
  finishReseal(session, sealer, (stored) => finishedChange(sealer.ring, stored));
  const others = session
    .statement(`SELECT count(*) AS n FROM entries WHERE substr(sealed, 1, ${HEADER_BYTES}) <> ?`)
    .get(current.header);
  return { from: former?.id ?? current.id, to: current.id, unreadable: Number(others?.n) };
}

/** Call it in a write transaction. */
export function requireChangeBegun(session: SqliteSession, { ring }: Sealer): void {
  requireChanging(ring, readStoredKeys(session));
}
