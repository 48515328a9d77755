/** What opening memory in this process wants to know. */
import type { RecallMode, RunCommand, SqliteDriver, Timer, UnixMs } from "../engine/index.ts";
import type { StoreServer } from "./database-server/store-server.ts";
import type { EmbeddingSettings } from "./embedding/embedding-settings.ts";
import type { StorageLocation } from "./storage-location.ts";

export interface OpenMemoryOptions extends StorageLocation {
  /** A database on a server, in place of the one at `databasePath`. */
  readonly server?: StoreServer;
  /** 64 hexadecimal digits; wins over the environment and the key file. */
  readonly configuredKey?: string;
  /** Looked at for HELMDECK_MEMORY_KEY, HELMDECK_MEMORY_KEY_FILE and HELMDECK_MEMORY_KEY_COMMAND, and for HELMDECK_EMBEDDINGS_…. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Runs what HELMDECK_MEMORY_KEY_COMMAND names; without it that setting is refused. */
  readonly runCommand?: RunCommand;
  readonly driver: SqliteDriver;
  /** The system's clock, in Unix milliseconds. */
  readonly now?: () => UnixMs;
  /** `read`: a database that cannot be written is opened all the same, and refuses writes. Default `write`. */
  readonly access?: "read" | "write";
  /** How often what has expired is deleted; 0: never. Default four minutes. */
  readonly sweepEveryMs?: number;
  readonly timer?: Timer;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
  /** From 0 up to but not 1. */
  readonly random?: () => number;
  /** Default: what HELMDECK_EMBEDDINGS_… say in the environment, and none where they say nothing. */
  readonly embeddings?: EmbeddingSettings;
  /** False in a process that is gone in a moment: it uses the vectors that are there. Default true. */
  readonly embedsEntries?: boolean;
  /** What is shown where nothing answers surely, for queries that do not say. Default `balanced`. */
  readonly recall?: RecallMode;
}
