/**
 * Memory on a database server: the key, which is never made here, and a store that is there again by itself once the server is.
 *
 * Who attacks: mishap. An engine that made a key of its own where the others' is missing would split a memory in two, so each is
 * given the same key by its operator, and does without memory until then.
 */
import {
  asHelmdeckError,
  createInMemoryStore,
  defined,
  findKey,
  HelmdeckError,
  isHelmdeckError,
  type LoadedKey,
  type MemoryStore,
} from "../../engine/index.ts";
import { composeMemory, type OpenMemory } from "../compose.ts";
import { embeddingSettingsOfEnv } from "../embedding/embedding-environment.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";
import { quotaOfEnv } from "../quota.ts";
import { ReopeningStore } from "../reopening-store.ts";
import { SWEEP_EVERY_MS } from "../sweeper.ts";
import type { ServerStore, StoreServer } from "./store-server.ts";

export interface OnServerOptions extends OpenMemoryOptions {
  readonly server: StoreServer;
  /** Opens later what does not answer now: for a process that serves. */
  readonly mayWait?: boolean;
}

export interface OnServer extends OpenMemory {
  /** Why it did not open at once; undefined where it did. */
  readonly failure?: HelmdeckError;
}

/** Throws `key_missing`, and what the opening throws unless it may wait. */
export async function openOnServer(options: OnServerOptions): Promise<OnServer> {
  const { server, keyPath, timer, random, recall, clock } = options;
  const loaded = await requireKey(options);
  const opening = new Opening(server, loaded, options);
  const { store: first, failure } = await opening.tryFirst(options.mayWait === true);
  const store = new ReopeningStore(first, {
    open: (beginnings) => opening.open(beginnings),
    mayOpen: () => true,
    explain: unavailable,
    ...defined({ clock, failure }),
  });
  const { key: _, ...key } = loaded;
  const memory = composeMemory({
    store,
    isWritable: () => opening.isWritable(),
    location: { databasePath: server.name, keyPath, keySource: key.source, driver: server.driver },
    key,
    sweepEveryMs: options.sweepEveryMs ?? SWEEP_EVERY_MS,
    embeddings: options.embeddings ?? (await embeddingSettingsOfEnv(options.env)),
    embedsEntries: options.embedsEntries ?? true,
    ...defined({ timer, random, recall }),
  });
  return { ...memory, ...defined({ failure }) };
}

/** The store that is open now. */
class Opening {
  readonly #server: StoreServer;
  readonly #loaded: LoadedKey;
  readonly #options: OpenMemoryOptions;
  #open: ServerStore | undefined;

  constructor(server: StoreServer, loaded: LoadedKey, options: OpenMemoryOptions) {
    this.#server = server;
    this.#loaded = loaded;
    this.#options = options;
  }

  async tryFirst(
    mayWait: boolean,
  ): Promise<{ readonly store: MemoryStore; readonly failure?: HelmdeckError }> {
    try {
      return { store: await this.open(0) };
    } catch (error) {
      if (!mayWait) throw error;
      const store = createInMemoryStore({ now: this.#options.now ?? Date.now });
      return { store, failure: asHelmdeckError(error) };
    }
  }

  async open(beginnings: number): Promise<ServerStore> {
    const { env } = this.#options;
    this.#open = await this.#server.open({ key: this.#loaded.key, quota: quotaOfEnv(env), beginnings });
    return this.#open;
  }

  async isWritable(): Promise<boolean> {
    return (await this.#open?.isWritable()) ?? true;
  }
}

async function requireKey(options: OpenMemoryOptions): Promise<LoadedKey> {
  const found = await findKey({ ...options, databasePath: "" }); // of what lies in a file here nothing is asked
  if (found !== undefined) return found;
  throw new HelmdeckError(
    "key_missing",
    "There is no key for the memory database on the server. All of its engines have one and the same key: set HELMDECK_MEMORY_KEY_FILE " +
      `(openssl rand -hex 32 > FILE makes one, once), or put it at ${options.keyPath}.`,
  );
}

/** What a client is told while the server does not answer; it is back as soon as that is. */
function unavailable(error: HelmdeckError): HelmdeckError {
  if (!isHelmdeckError(error, "store_unavailable")) return error;
  return new HelmdeckError("memory_unavailable", `Memory is not available: ${error.message}`, {
    details: { ...error.details, reason: error.code },
    cause: error,
  });
}
