/** The store's own row: identity, keys, observed time. */
import { randomBytes } from "node:crypto";
import { HelmdeckError } from "../../errors.ts";
import { KeyRing, SealingKeys, type StoredKeys, wrongKey } from "../key-ring.ts";
import type { MasterKey } from "../master-key.ts";
import type { StoreIdentity } from "../memory-store.ts";
import { movedError } from "../moving/movable-store.ts";
import type { Namespace } from "../namespace.ts";
import type { StoredRow } from "../stored-rows.ts";
import type { Connection } from "./connection.ts";
import { CLOCK, type DatabaseClock } from "./database.ts";
import { markIn } from "./schema.ts";

const STORE_ID_BYTES = 16;

export interface StoreRow {
  readonly identity: StoreIdentity;
  readonly keys: StoredKeys;
  readonly timeSeen: string | undefined;
  /** The server's clock, in Unix milliseconds. */
  readonly clock: number;
}

const COLUMNS = `store.id, generation, key_check, former_check, former_key, new_key, time_seen, ${CLOCK} AS clock`;

/** Undefined in a schema that was never opened with a key. */
export async function readStoreRow(connection: Connection): Promise<StoreRow | undefined> {
  const [row] = await connection.query(`SELECT ${COLUMNS} FROM store`);
  return row && parseStoreRow(row, connection.name);
}

/** For an open store. */
export async function requireStoreRow(connection: Connection): Promise<StoreRow> {
  const row = await readStoreRow(connection);
  if (row === undefined) throw emptied(connection.name);
  return row;
}

/** Saves the keys of the rows; sent with the commit. */
export function saveKeys(connection: Connection, { check, change }: StoredKeys): void {
  void connection.query("UPDATE store SET (key_check, former_check, former_key, new_key) = (?, ?, ?, ?)", [
    check,
    change?.formerCheck ?? null,
    change?.former ?? null,
    change?.current ?? null,
  ]);
}

/** For a schema without one; if several processes try at once, the first creates it. */
export async function makeStoreRow(connection: Connection, master: MasterKey): Promise<void> {
  await connection.query("INSERT INTO store (one, id, key_check) VALUES (1, ?, ?) ON CONFLICT DO NOTHING", [
    randomBytes(STORE_ID_BYTES),
    new SealingKeys(master).check,
  ]);
}

/** Throws `key_wrong` when the key does not belong to the database: then nothing is read or written. */
export function openRing(master: MasterKey, { keys }: StoreRow, name: string): KeyRing {
  const ring = KeyRing.open(master, keys);
  if (ring === undefined) throw wrongKey(name, master);
  return ring;
}

/** The keys were changed while the store was open. Throws `store_replaced` when this process cannot know the new one. */
export function followKeys(ring: KeyRing, { keys }: StoreRow, name: string): void {
  if (ring.isUpToDate(keys) || ring.update(keys)) return;
  throw new HelmdeckError(
    "store_replaced",
    `The key of the memory database ${name} has been changed. This connection no longer reads or writes; the next ` +
      "one loads the key again.",
    { details: { now: "key" } },
  );
}

/** Throws `store_replaced` when the store was replaced by another one or an older copy. */
export function requireSame(
  opened: StoreIdentity,
  { identity }: Pick<StoreRow, "identity">,
  name: string,
): void {
  if (identity.storeId === opened.storeId && identity.generation === opened.generation) return;
  throw new HelmdeckError(
    "store_replaced",
    `The memory database ${name} holds another store than when it was opened; it was probably replaced by a backup. This connection ` +
      "no longer reads or writes; the next one uses the current store.",
    { details: { now: "other" } },
  );
}

/**
 * Sent with each read, so that an abandoned store is not taken for the current one. Throws `store_moved` if its memory was moved,
 * and `store_replaced` if it was moved away and back since it was opened. Synchronises the clock.
 */
export async function requireInUse(
  connection: Connection,
  owner: Namespace | undefined,
  opened: StoreIdentity,
  clock: DatabaseClock,
): Promise<void> {
  const columns = `moved, store.id, generation, ${CLOCK} AS clock`;
  const [row] = await connection.readAs(owner, `${columns} FROM schema_version, store`);
  if (row === undefined) throw emptied(connection.name);
  clock.set(Number(row.clock));
  const mark = markIn(row.moved);
  if (mark !== undefined) throw movedError(connection.name, mark);
  requireSame(opened, { identity: identityIn(row, connection.name) }, connection.name);
}

function parseStoreRow(row: StoredRow, name: string): StoreRow {
  const { id, key_check: check, time_seen: timeSeen, clock } = row;
  if (!(id instanceof Uint8Array) || !(check instanceof Uint8Array)) throw damaged(name);
  const { former_check: formerCheck, former_key: former, new_key: current } = row;
  const isChanging =
    formerCheck instanceof Uint8Array && former instanceof Uint8Array && current instanceof Uint8Array;
  return {
    identity: identityIn(row, name),
    keys: { check, storeId: id, ...(isChanging && { change: { formerCheck, former, current } }) },
    timeSeen: typeof timeSeen === "string" ? timeSeen : undefined,
    clock: Number(clock),
  };
}

function identityIn({ id, generation }: StoredRow, name: string): StoreIdentity {
  if (!(id instanceof Uint8Array)) throw damaged(name);
  return { storeId: Buffer.from(id).toString("hex"), generation: Number(generation) };
}

function emptied(name: string): HelmdeckError {
  return new HelmdeckError(
    "store_replaced",
    `The memory database ${name} was emptied while it was open. This connection no longer reads or writes.`,
    { details: { now: "other" } },
  );
}

function damaged(name: string): HelmdeckError {
  return new HelmdeckError(
    "store_corrupt",
    `The memory database ${name} is damaged: its own record is not as this program wrote it. Keep it, and restore a backup.`,
  );
}
