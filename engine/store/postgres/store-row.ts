/** The one row that a store keeps about itself: who it is, which keys it has, what it has seen of time. */
import { randomBytes } from "node:crypto";
import { HelmdeckError } from "../../errors.ts";
import { KeyRing, SealingKeys, type StoredKeys } from "../key-ring.ts";
import type { MasterKey } from "../master-key.ts";
import type { StoreIdentity } from "../memory-store.ts";
import type { StoredRow } from "../stored-rows.ts";
import type { Connection } from "./connection.ts";

const STORE_ID_BYTES = 16;

export interface StoreRow {
  readonly identity: StoreIdentity;
  readonly keys: StoredKeys;
  readonly timeSeen: string | undefined;
  /** Of the server's clock, in Unix milliseconds. */
  readonly clock: number;
}

const COLUMNS = `store.id, generation, key_check, former_check, former_key, new_key, time_seen,
  (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS clock`;

/** Undefined in a schema that nobody has opened with a key yet. */
export async function readStoreRow(connection: Connection): Promise<StoreRow | undefined> {
  const [row] = await connection.query(`SELECT ${COLUMNS} FROM store`);
  return row && parseStoreRow(row, connection.name);
}

/** Of a store that is open. */
export async function requireStoreRow(connection: Connection): Promise<StoreRow> {
  const row = await readStoreRow(connection);
  if (row === undefined) throw emptied(connection.name);
  return row;
}

/** Says which keys the rows are sealed under from now on; sent, and part of the commit. */
export function saveKeys(connection: Connection, { check, change }: StoredKeys): void {
  void connection.query("UPDATE store SET (key_check, former_check, former_key, new_key) = (?, ?, ?, ?)", [
    check,
    change?.formerCheck ?? null,
    change?.former ?? null,
    change?.current ?? null,
  ]);
}

/** In a schema without one; of several that try at once, the first makes it. */
export async function makeStoreRow(connection: Connection, master: MasterKey): Promise<void> {
  await connection.query("INSERT INTO store (one, id, key_check) VALUES (1, ?, ?) ON CONFLICT DO NOTHING", [
    randomBytes(STORE_ID_BYTES),
    new SealingKeys(master).check,
  ]);
}

/** Throws `key_wrong` when the key does not belong to the database: then nothing is read, and nothing is written under it. */
export function openRing(master: MasterKey, { keys }: StoreRow, name: string): KeyRing {
  const ring = KeyRing.open(master, keys);
  if (ring !== undefined) return ring;
  throw new HelmdeckError(
    "key_wrong",
    `The memory database ${name} was made with another key, and nothing was read or written under this one. ` +
      "Find the key that belongs to it: another key file, or an environment variable that overrides it.",
  );
}

/** The keys have been changed while the store was open. Throws `store_replaced` when this process cannot know the new one. */
export function followKeys(ring: KeyRing, { keys }: StoreRow, name: string): void {
  if (ring.isUpToDate(keys) || ring.update(keys)) return;
  throw new HelmdeckError(
    "store_replaced",
    `The key of the memory database ${name} has been changed. Nothing more is read or written under the former one; the next ` +
      "opening looks for the key anew.",
    { details: { now: "key" } },
  );
}

/** Throws `store_replaced` where another store, or an older copy, was put in this one's place. */
export function requireSame(opened: StoreIdentity, { identity }: StoreRow, name: string): void {
  if (identity.storeId === opened.storeId && identity.generation === opened.generation) return;
  throw new HelmdeckError(
    "store_replaced",
    `The memory database ${name} holds another store than when it was opened: a backup was put in its place. Nothing more is ` +
      "read or written through this opening; the next one finds what is there now.",
    { details: { now: "other" } },
  );
}

function parseStoreRow(row: StoredRow, name: string): StoreRow {
  const { id, generation, key_check: check, time_seen: timeSeen, clock } = row;
  if (!(id instanceof Uint8Array) || !(check instanceof Uint8Array)) throw damaged(name);
  const { former_check: formerCheck, former_key: former, new_key: current } = row;
  const isChanging =
    formerCheck instanceof Uint8Array && former instanceof Uint8Array && current instanceof Uint8Array;
  return {
    identity: { storeId: Buffer.from(id).toString("hex"), generation: Number(generation) },
    keys: { check, storeId: id, ...(isChanging && { change: { formerCheck, former, current } }) },
    timeSeen: typeof timeSeen === "string" ? timeSeen : undefined,
    clock: Number(clock),
  };
}

function emptied(name: string): HelmdeckError {
  return new HelmdeckError(
    "store_replaced",
    `The memory database ${name} was emptied while it was open. Nothing more is read or written through this opening.`,
    { details: { now: "other" } },
  );
}

function damaged(name: string): HelmdeckError {
  return new HelmdeckError(
    "store_corrupt",
    `The memory database ${name} is damaged: what it says of itself is not as this program wrote it. Keep it, and restore a backup.`,
  );
}
