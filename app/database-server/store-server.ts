/**
 * A memory database on a server instead of a file.
 *
 * The command line passes it in, like SQLite's driver: the OpenClaw plugin contains no client of a database server.
 */

import type { Quota } from "../../engine/rules/quota.ts";
import type { KeyChangingStore } from "../../engine/store/key-change.ts";
import type { MasterKey } from "../../engine/store/master-key.ts";
import type { MemoryReader, MemoryStore, StoreFacts } from "../../engine/store/memory-store.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import type { VerifiedRows, VerifyHooks } from "../../engine/store/postgres/inspect-store.ts";

export interface StoreServer {
  /** For people, without user and password. */
  readonly name: string;
  /** As shown by doctor. */
  readonly driver: string;
  /** Throws `store_unavailable` when the server does not answer, and other errors of opening. */
  open(parts: ServerStoreParts): Promise<ServerStore>;
  /** Read-only; creates nothing. */
  openReader(key: MasterKey): Promise<MemoryReader>;
  /** With the current key or, during a change of keys, with either. */
  openToChangeKey(key: MasterKey): Promise<KeyChangingStore>;
  /** Creates nothing. */
  look(key: MasterKey): Promise<StoreFacts>;
  /** Opens every row, and changes nothing. */
  verify(key: MasterKey, hooks: VerifyHooks): Promise<VerifiedRows>;
}

interface ServerStoreParts {
  readonly key: MasterKey;
  readonly quota: Partial<Quota>;
  /** How often this process has opened it before. */
  readonly beginnings: number;
}

export interface ServerStore extends MemoryStore {
  /** False for a standby: it answers reads, and refuses writes with `store_readonly`. */
  isWritable(): Promise<boolean>;
  /** Calls back soon after a change by any engine, and sometimes without one; a change may be missed. The answer ends it. */
  watch(namespace: Namespace, listener: () => void): () => void;
}
