/**
 * Opens memory on a database server: with a key that is never created here, and a store that reconnects once the server is back.
 *
 * The danger is an accident: an engine that created its own key when the shared one is missing would split a memory in two. So
 * every engine gets the same key from its operator, and has no memory until then.
 */
import { defined } from "../../engine/defined.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import type { LoadedKey } from "../../engine/store/find-key.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import { composeMemory, type OpenMemory } from "../compose.ts";
import { type KeyFacts, keyFactsOf } from "../health/examine-memory.ts";
import { type OpenMemoryOptions, settingsOf } from "../open-memory-options.ts";
import { storeQuota } from "../quota.ts";
import { ReopeningStore } from "../reopening-store.ts";
import { requireServerKey } from "./server-key.ts";
import type { ServerStore, StoreServer } from "./store-server.ts";

export interface OnServerOptions extends OpenMemoryOptions {
  readonly server: StoreServer;
}

/** Throws `key_missing`, and the errors of opening unless it may wait. */
export async function openOnServer(options: OnServerOptions): Promise<OpenMemory> {
  const { server, keyPath, clock, waiting, now } = options;
  const opening = new Opening(options);
  const store = await ReopeningStore.open({
    open: (beginnings) => opening.open(beginnings),
    mayOpen: () => true,
    ...defined({ clock, waiting, now }),
  });
  return composeMemory({
    store,
    hasOpened: () => store.identity !== undefined,
    isWritable: () => opening.isWritable(),
    watch: (namespace, listener) => opening.watches.begin(namespace, listener),
    get location() {
      return { databasePath: server.name, keyPath, keySource: opening.key.source, driver: server.driver };
    },
    get key() {
      return opening.key;
    },
    get notes() {
      return { keyFile: opening.key.file ?? keyPath };
    },
    ...(await settingsOf(options)),
  });
}

/** The currently open store. */
class Opening {
  readonly watches = new Watches();
  readonly #options: OnServerOptions;
  #loaded: LoadedKey | undefined;
  #open: ServerStore | undefined;

  constructor(options: OnServerOptions) {
    this.#options = options;
  }

  get key(): KeyFacts {
    return keyFactsOf(this.#loaded, this.#options);
  }

  async open(beginnings: number): Promise<ServerStore> {
    this.#loaded ??= await requireServerKey(this.#options);
    try {
      return await this.#openWith(this.#loaded, beginnings);
    } catch (error) {
      if (!isHelmdeckError(error, "key_wrong")) throw error;
      this.#loaded = await requireServerKey(this.#options); // the key may have been changed
      return this.#openWith(this.#loaded, beginnings);
    }
  }

  async #openWith({ key }: LoadedKey, beginnings: number): Promise<ServerStore> {
    const { server } = this.#options;
    this.#open = await server.open({ key, quota: storeQuota(this.#options), beginnings });
    this.watches.moveTo(this.#open);
    return this.#open;
  }

  async isWritable(): Promise<boolean> {
    return (await this.#open?.isWritable()) ?? true;
  }
}

type Watchable = Pick<ServerStore, "watch">;

interface Watch {
  readonly namespace: Namespace;
  readonly listener: () => void;
  /** Absent while no store is open. */
  stop?: (() => void) | undefined;
}

/** Watches of memories on a database server, which continue when the store is opened again. */
export class Watches {
  readonly #watches = new Set<Watch>();
  #store: Watchable | undefined;

  /** The previous store is closed, and its watches with it. */
  moveTo(store: Watchable): void {
    this.#store = store;
    for (const watch of this.#watches) watch.stop = store.watch(watch.namespace, watch.listener);
  }

  begin(namespace: Namespace, listener: () => void): () => void {
    const watch: Watch = { namespace, listener, stop: this.#store?.watch(namespace, listener) };
    this.#watches.add(watch);
    return () => {
      this.#watches.delete(watch);
      watch.stop?.();
    };
  }
}
