/** Between the keys that a database says it is sealed under, and those at hand. */
import { HelmdeckError } from "../../errors.ts";
import { KeyRing, type StoredKeys } from "../key-ring.ts";
import type { MasterKey } from "../master-key.ts";
import { Sealer } from "../sealing.ts";
import type { SqliteSession } from "./sqlite-session.ts";
import { readStoredKeys } from "./store-row.ts";

/** Throws `key_wrong` when the key does not belong to the database: then nothing is read, and nothing is written under it. */
export function openSealer(session: SqliteSession, master: MasterKey): Sealer {
  const stored = readStoredKeys(session);
  const ring = KeyRing.open(master, stored);
  if (ring === undefined) throw wrongKey(session.path);
  return new Sealer({
    ring,
    onUnknown: () => {
      const now = readStoredKeys(session);
      if (!ring.isUpToDate(now)) followKeys(session, ring, now);
    },
  });
}

/** The keys have been changed while the database was open. Throws `store_replaced` when this process cannot know the new one. */
export function followKeys(session: SqliteSession, ring: KeyRing, stored: StoredKeys): void {
  if (ring.update(stored)) return;
  throw new HelmdeckError(
    "store_replaced",
    `The key of the memory database ${session.path} has been changed. Nothing more is read or written under the former one; the ` +
      "next opening looks for the key anew.",
    { details: { path: session.path, now: "key" } },
  );
}

function wrongKey(path: string): HelmdeckError {
  return new HelmdeckError(
    "key_wrong",
    `The memory database ${path} was made with another key, and nothing was read or written under this one. ` +
      "Find the key that belongs to it: another key file, or an environment variable that overrides it.",
    { details: { path } },
  );
}
