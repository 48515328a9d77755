/**
 * Opens memory on a database server: with a key that is never created here, and a store that reconnects once the server is back.
 *
 * The danger is an accident: an engine that created its own key when the shared one is missing would split a memory in two. So
 * every engine gets the same key from its operator, and has no memory until then.
 */
import {
  asHelmdeckError,
  createInMemoryStore,
  defined,
  HelmdeckError,
  isHelmdeckError,
  type LoadedKey,
  type MasterKey,
  type MemoryStore,
} from "../../engine/index.ts";
import { composeMemory, type OpenMemory } from "../compose.ts";
import { type OpenMemoryOptions, settingsOf } from "../open-memory-options.ts";
import { quotaOfEnv } from "../quota.ts";
import { ReopeningStore } from "../reopening-store.ts";
import { requireServerKey } from "./server-key.ts";
import type { ServerStore, StoreServer } from "./store-server.ts";
import { Watches } from "./watches.ts";

export interface OnServerOptions extends OpenMemoryOptions {
  readonly server: StoreServer;
  /** For long-lived processes: keeps trying when the server does not answer. */
  readonly mayWait?: boolean;
}

export interface OnServer extends OpenMemory {
  /** Why it did not open at once; undefined when it did. */
  readonly failure?: HelmdeckError;
}

/** Throws `key_missing`, and the errors of opening unless it may wait. */
export async function openOnServer(options: OnServerOptions): Promise<OnServer> {
  const { server, keyPath, clock } = options;
  const loaded = await requireServerKey(options);
  const opening = new Opening(options, loaded);
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
    watch: (namespace, listener) => opening.watches.begin(namespace, listener),
    location: { databasePath: server.name, keyPath, keySource: key.source, driver: server.driver },
    key,
    notes: { keyFile: loaded.file ?? keyPath },
    ...(await settingsOf(options)),
  });
  return { ...memory, ...defined({ failure }) };
}

/** The currently open store. */
class Opening {
  readonly watches = new Watches();
  readonly #options: OnServerOptions;
  #key: MasterKey;
  #open: ServerStore | undefined;

  constructor(options: OnServerOptions, { key }: LoadedKey) {
    this.#options = options;
    this.#key = key;
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
    try {
      return await this.#openWith(this.#key, beginnings);
    } catch (error) {
      if (!isHelmdeckError(error, "key_wrong")) throw error;
      this.#key = (await requireServerKey(this.#options)).key; // the key may have been changed
      return this.#openWith(this.#key, beginnings);
    }
  }

  async #openWith(key: MasterKey, beginnings: number): Promise<ServerStore> {
    const { server, env } = this.#options;
    this.#open = await server.open({ key, quota: quotaOfEnv(env), beginnings });
    this.watches.moveTo(this.#open);
    return this.#open;
  }

  async isWritable(): Promise<boolean> {
    return (await this.#open?.isWritable()) ?? true;
  }
}

/** The error for clients while the server does not answer. */
function unavailable(error: HelmdeckError): HelmdeckError {
  if (!isHelmdeckError(error, "store_unavailable")) return error;
  return new HelmdeckError("memory_unavailable", `Memory is not available: ${error.message}`, {
    details: { ...error.details, reason: error.code },
    cause: error,
  });
}
