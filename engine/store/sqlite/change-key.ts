/**
 * Changing the key of a database, while others use it and however often it is interrupted.
 *
 * It begins with one transaction that names the new key and keeps each key sealed under the other, so that from then on
 * either of them opens everything. Rows are then sealed anew in slices. The last transaction takes the former key away.
 * Whoever has the database open meanwhile finds the new key in it; whoever finds out too late opens it again.
 */
import { HelmdeckError } from "../../errors.ts";
import { HEADER_BYTES } from "../envelope.ts";
import { SealingKeys } from "../key-ring.ts";
import type { MasterKey } from "../master-key.ts";
import type { Sealer } from "../sealing.ts";
import { finishReseal } from "./reseal.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { readStoredKeys, saveStoredKeys } from "./store-row.ts";
import { followKeys } from "./stored-keys.ts";

/** What a change of keys did; key ids as people see them. */
export interface KeyChangeReport {
  readonly from: string;
  readonly to: string;
  /** Rows that did not open under any key, and so are as they were. */
  readonly unreadable: number;
  /** `pending`: a reader keeps old bytes in the log, until the next fold. */
  readonly erased: "complete" | "pending";
}

/**
 * Makes `newKey` the one in use. Both keys open the database from here until {@link finishKeyChange}; beginning again changes nothing.
 *
 * @throws `invalid_input` when it is the key in use already, or another change has begun and is not finished.
 */
export function beginKeyChange(session: SqliteSession, sealer: Sealer, newKey: MasterKey): void {
  const wanted = new SealingKeys(newKey);
  session.write(() => {
    const stored = readStoredKeys(session);
    followKeys(session, sealer.ring, stored);
    const { current } = sealer.ring;
    if (stored.change !== undefined) return requireSameChange(current, wanted);
    if (wanted.id === current.id) throw sameKey();
    const storeId = stored.storeId ?? new Uint8Array(0);
    const changed = {
      check: wanted.check,
      storeId,
      change: {
        formerCheck: current.check,
        former: wanted.wrap(current, storeId),
        current: current.wrap(wanted, storeId),
      },
    };
    saveStoredKeys(session, changed);
    sealer.ring.update(changed);
  });
}

/** The last transaction: only the key in use opens the database from here on. */
export function finishKeyChange(session: SqliteSession, sealer: Sealer): Omit<KeyChangeReport, "erased"> {
  const { current, former } = sealer.ring;
  finishReseal(session, sealer, ({ change: _, ...stored }) => {
    if (!current.matches(stored.check)) throw anotherChange(current.id);
    return stored;
  });
  const others = session
    .statement(`SELECT count(*) AS n FROM entries WHERE substr(sealed, 1, ${HEADER_BYTES}) <> ?`)
    .get(current.header);
  return { from: former?.id ?? current.id, to: current.id, unreadable: Number(others?.n) };
}

/** In a write transaction: the change to the key in use has begun, and nobody has finished it. */
export function requireChanging(session: SqliteSession, { ring: { current } }: Sealer): void {
  const { check, change } = readStoredKeys(session);
  if (change === undefined || !current.matches(check)) throw anotherChange(current.id);
}

function requireSameChange(current: SealingKeys, wanted: SealingKeys): void {
  if (wanted.id !== current.id) throw anotherChange(current.id);
}

function anotherChange(key: string): HelmdeckError {
  return new HelmdeckError(
    "invalid_input",
    `A change to the key ${key} has begun and is not finished, or another one has begun since. Finish it with that key first.`,
    { details: { field: "key", key } },
  );
}

function sameKey(): HelmdeckError {
  return new HelmdeckError("invalid_input", "The new key is the one in use already. Make another one.", {
    details: { field: "key" },
  });
}
