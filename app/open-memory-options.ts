/** Options of opening memory in this process. */
import { dirname } from "node:path";
import type { RecallMode } from "../engine/answer-limits.ts";
import { defined } from "../engine/defined.ts";
import type { RunCommand } from "../engine/store/find-key.ts";
import type { UnixMs } from "../engine/store/memory-store.ts";
import type { SqliteDriver } from "../engine/store/sqlite/sqlite-driver.ts";
import type { Timer } from "../engine/timing.ts";
import type { IndexLimits } from "../recall/index-cache.ts";
import type { Composition } from "./compose.ts";
import type { StoreServer } from "./database-server/store-server.ts";
import { modelPlaceIn } from "./embedding/built-in-embedder.ts";
import { embeddingSettingsOfEnv } from "./embedding/embedding-environment.ts";
import type { EmbeddingSettings } from "./embedding/embedding-settings.ts";
import { defaultTtlOf, type LimitsByCaller } from "./quota.ts";
import type { Waiting } from "./reopening-store.ts";
import type { StorageLocation } from "./storage-location.ts";
import { SWEEP_EVERY_MS } from "./sweeper.ts";

export interface OpenMemoryOptions extends StorageLocation {
  /** A database on a server, instead of the file at `databasePath`. */
  readonly server?: StoreServer;
  /** 64 hexadecimal digits; takes precedence over the environment and the key file. */
  readonly configuredKey?: string;
  /** Read for HELMDECK_MEMORY_KEY, HELMDECK_MEMORY_KEY_FILE, HELMDECK_MEMORY_KEY_COMMAND and HELMDECK_EMBEDDINGS_…. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Runs the command in HELMDECK_MEMORY_KEY_COMMAND; without it that setting is refused. */
  readonly runCommand?: RunCommand;
  readonly driver: SqliteDriver;
  /** The system's clock, in Unix milliseconds. */
  readonly now?: () => UnixMs;
  /**
   * `read`: opens a read-only database too, which refuses writes. `change`: for changes of what is there. Neither creates a
   * database or a key. Default `write`.
   */
  readonly access?: "read" | "change" | "write";
  /** False: a key is never created, not even where there is no data. Default true. */
  readonly makesKey?: boolean;
  /** For a process that serves: a memory that does not open fails each call with the reason, until it opens. */
  readonly waiting?: Waiting;
  /** How often expired entries are deleted; 0: never. Default four minutes. */
  readonly sweepEveryMs?: number;
  readonly timer?: Timer;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
  /** From 0 up to, but not including, 1. */
  readonly random?: () => number;
  /** Default: HELMDECK_EMBEDDINGS_… in the environment; when they are not set, the built-in model if it is installed. */
  readonly embeddings?: EmbeddingSettings;
  /** False in a short-lived process, which uses existing vectors only. Default true. */
  readonly embedsEntries?: boolean;
  /** How long a search waits for its question's vector. Default 1.5 seconds. */
  readonly questionBudgetMs?: number;
  /** What a search shows when no hit is certain, for queries without a mode. Default `balanced`. */
  readonly recall?: RecallMode;
  /** What single callers may store in place of the others. Asked for each write. */
  readonly limits?: () => LimitsByCaller;
  /** The life of a fact whose writer names none: 1 to 365 days. Default: HELMDECK_MEMORY_LIFETIME_DAYS in the environment, or 90. */
  readonly lifetimeDays?: number;
  /** Which indexes are kept in memory. Default: 256 MiB of them, for as long as the process lives. */
  readonly indexes?: IndexLimits;
}

/** What does not depend on where memory lies. */
export async function settingsOf(options: OpenMemoryOptions) {
  const { timer, clock, random, recall, indexes, questionBudgetMs } = options;
  return {
    sweepEveryMs: options.sweepEveryMs ?? SWEEP_EVERY_MS,
    embeddings: options.embeddings ?? (await embeddingSettingsOfEnv(options.env)),
    embedsEntries: options.embedsEntries ?? true,
    defaultTtlSeconds: defaultTtlOf(options.lifetimeDays, options.env),
    // The key lies in the state folder, and so does the model.
    builtIn: await modelPlaceIn(dirname(options.keyPath)),
    ...defined({ timer, clock, random, recall, indexes, questionBudgetMs }),
  } satisfies Partial<Composition>;
}
