/**
 * A database on a server, in place of a file.
 *
 * The command line hands it in, as it does the driver of SQLite: what OpenClaw loads holds no client of a database server.
 */
import type { MasterKey, MemoryStore, Quota } from "../../engine/index.ts";

export interface StoreServer {
  /** For people: without user and password. */
  readonly name: string;
  /** As in doctor. */
  readonly driver: string;
  /** Throws `store_unavailable` where it does not answer, and what else an opening throws. */
  open(parts: ServerStoreParts): Promise<ServerStore>;
}

interface ServerStoreParts {
  readonly key: MasterKey;
  readonly quota: Partial<Quota>;
  /** How often this process opened it before. */
  readonly beginnings: number;
}

export interface ServerStore extends MemoryStore {
  /** False of a standby: it answers reads, and refuses writes with `store_readonly`. */
  isWritable(): Promise<boolean>;
}
