/** A place that a memory can lie in, as people name it: the path of a database, or the address of one on PostgreSQL. */
import { resolve } from "node:path";
import { findKey, HelmdeckError, invalidField, type MasterKey } from "../../engine/index.ts";
import { openMovableSqlite } from "../../engine/moving.ts";
import type { PostgresReached } from "../database-server/postgres-server.ts";
import type { AddressOptions } from "../database-server/store-address.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";
import type { OpenPlace } from "./move-memory.ts";

export type PlaceAddress =
  | { readonly kind: "sqlite"; readonly name: string }
  | { readonly kind: "postgres"; readonly name: string; readonly reached: PostgresReached };

/** Throws `invalid_input` as every `--store` does, and for an address of something else. */
export async function placeAddress(
  typed: string,
  option: string,
  options: AddressOptions,
): Promise<PlaceAddress> {
  if (/^postgres(ql)?:\/\//i.test(typed)) {
    const { reachPostgres } = await import("../database-server/postgres-server.ts");
    const { name, reached } = await reachPostgres(typed, options);
    return { kind: "postgres", name: options.from === "argument" ? typed : name, reached };
  }
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(typed))
    throw invalidField(option, "is a postgres:// address, or the path of a database");
  return { kind: "sqlite", name: resolve(typed) };
}

export interface StorePlaceOptions {
  readonly address: PlaceAddress;
  readonly key: MasterKey;
  readonly driver: OpenMemoryOptions["driver"];
  /** On a server: roles that engines run under. */
  readonly engineRoles?: readonly string[];
}

export function storePlace({ address, key, driver, engineRoles = [] }: StorePlaceOptions): OpenPlace {
  if (address.kind === "sqlite") {
    const { name: path } = address;
    return (to) => openMovableSqlite({ path, key, driver, to });
  }
  const { reached } = address;
  return async (to) => {
    const { openMovablePostgres } = await import("../../engine/postgres.ts");
    return openMovablePostgres({ ...reached, to, engineRoles });
  };
}

/** Makes the tables on PostgreSQL, or brings them up to date, and lets the roles use them. Throws `invalid_input` for a file. */
export async function prepareStore(address: PlaceAddress, engineRoles: readonly string[]): Promise<void> {
  if (address.kind === "sqlite")
    throw invalidField("--to", "is a postgres:// address: a file is made as it is used");
  const { preparePostgres } = await import("../../engine/postgres.ts");
  await preparePostgres({ ...address.reached, engineRoles });
}

/** Both places have one key. Throws `key_missing`: a memory that moves has one already. */
export async function keyOfMove(options: OpenMemoryOptions): Promise<MasterKey> {
  const found = await findKey(options);
  if (found !== undefined) return found.key;
  throw new HelmdeckError(
    "key_missing",
    `A memory moves under its own key, and there is none at ${options.keyPath}. Put it there, or name it in HELMDECK_MEMORY_KEY_FILE.`,
  );
}
