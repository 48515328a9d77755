/** Matches the stored keys of a database with the available ones. */
import { HelmdeckError } from "../../errors.ts";
import { KeyRing, type StoredKeys, wrongKey } from "../key-ring.ts";
import type { MasterKey } from "../master-key.ts";
import { Sealer } from "../sealing.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { readStoredKeys } from "./store-row.ts";

/** Throws `key_wrong` when the key does not belong to the database: then nothing is read or written. */
export function openSealer(session: SqliteSession, master: MasterKey): Sealer {
  const stored = readStoredKeys(session);
  const ring = KeyRing.open(master, stored);
  if (ring === undefined) throw wrongKey(session.path, master);
  return new Sealer({
    ring,
    onUnknown: () => {
      const now = readStoredKeys(session);
      if (!ring.isUpToDate(now)) followKeys(session, ring, now);
    },
  });
}

/** The keys were changed while the database was open. Throws `store_replaced` when this process cannot know the new one. */
export function followKeys(session: SqliteSession, ring: KeyRing, stored: StoredKeys): void {
  if (ring.update(stored)) return;
  throw new HelmdeckError(
    "store_replaced",
    `The key of the memory database ${session.path} has been changed. This connection no longer reads or writes; the ` +
      "next one loads the key again.",
    { details: { path: session.path, now: "key" } },
  );
}
