/** A place that a memory can lie in, as people name it: the path of a database, or the address of one on PostgreSQL. */
import { resolve } from "node:path";
import { findKey, HelmdeckError, invalidField, type MasterKey } from "../../engine/index.ts";
import { openMovableSqlite } from "../../engine/moving.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";
import type { OpenPlace } from "./move-memory.ts";

export type StoreAddress =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly url: string };

const POSTGRES = /^postgres(ql)?:\/\//i;

/** Throws `invalid_input` for an address with a password, and for one of something else. */
export function storeAddress(typed: string, option: string): StoreAddress {
  if (!POSTGRES.test(typed)) {
    if (/^[a-z][a-z0-9+.-]+:\/\//i.test(typed))
      throw invalidField(option, "is a postgres:// address, or the path of a database");
    return { kind: "sqlite", path: resolve(typed) };
  }
  const [, account = ""] = /^\w+:\/\/([^@/?#]*)@/.exec(typed) ?? [];
  if (!account.includes(":") && !/[?&]password=/i.test(typed)) return { kind: "postgres", url: typed };
  throw invalidField(
    option,
    "holds a password, which everybody on this machine can read there; put it in a file of yours that PGPASSFILE names (mode 0600)",
  );
}

export interface StorePlaceOptions {
  readonly address: StoreAddress;
  readonly key: MasterKey;
  readonly driver: OpenMemoryOptions["driver"];
  /** On a server: roles that engines run under. */
  readonly engineRoles?: readonly string[];
}

export function storePlace({ address, key, driver, engineRoles = [] }: StorePlaceOptions): OpenPlace {
  if (address.kind === "sqlite") {
    const { path } = address;
    return (to) => openMovableSqlite({ path, key, driver, to });
  }
  const { url } = address;
  return async (to) => {
    const { openMovablePostgres } = await import("../../engine/postgres.ts");
    return openMovablePostgres({ connection: { connectionString: url }, to, engineRoles });
  };
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
