/** Parses the location of a memory: the path of a database file, or a PostgreSQL address. */
import { resolve } from "node:path";
import { HelmdeckError, invalidField } from "../../engine/errors.ts";
import { findKey } from "../../engine/store/find-key.ts";
import type { MasterKey } from "../../engine/store/master-key.ts";
import { openMovableSqlite } from "../../engine/store/sqlite/movable-sqlite.ts";
import type { PostgresReached } from "../database-server/postgres-server.ts";
import type { AddressOptions } from "../database-server/store-address.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";
import type { OpenPlace } from "./move-memory.ts";

export type PlaceAddress =
  | { readonly kind: "sqlite"; readonly name: string }
  | { readonly kind: "postgres"; readonly name: string; readonly reached: PostgresReached };

/** Throws `invalid_input` like every `--store`, and for an address of another kind. */
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
    throw invalidField(option, "must be a postgres:// address, or the path of a database");
  return { kind: "sqlite", name: resolve(typed) };
}

export interface StorePlaceOptions {
  readonly address: PlaceAddress;
  readonly key: MasterKey;
  readonly driver: OpenMemoryOptions["driver"];
  /** On a server: the roles of engines. */
  readonly engineRoles?: readonly string[];
}

export function storePlace({ address, key, driver, engineRoles = [] }: StorePlaceOptions): OpenPlace {
  if (address.kind === "sqlite") {
    const { name: path } = address;
    return (to) => openMovableSqlite({ path, key, driver, to });
  }
  const { reached } = address;
  return async (to) => {
    const { openMovablePostgres } = await import("../../engine/store/postgres/movable-postgres.ts");
    return openMovablePostgres({ ...reached, to, engineRoles });
  };
}

/** Creates or migrates the tables on PostgreSQL, and grants the roles access. Throws `invalid_input` for a file. */
export async function prepareStore(address: PlaceAddress, engineRoles: readonly string[]): Promise<void> {
  if (address.kind === "sqlite")
    throw invalidField("--to", "must be a postgres:// address; a file needs no preparation");
  const { preparePostgres } = await import("../../engine/store/postgres/open-postgres.ts");
  await preparePostgres({ ...address.reached, engineRoles });
}

/** Both places have the same key. Throws `key_missing`: a memory to move already has one. */
export async function keyOfMove(options: OpenMemoryOptions): Promise<MasterKey> {
  const found = await findKey(options);
  if (found !== undefined) return found.key;
  throw new HelmdeckError(
    "key_missing",
    `A memory is moved with its own key, but there is none at ${options.keyPath}. Put it there, or set HELMDECK_MEMORY_KEY_FILE to its path.`,
  );
}
