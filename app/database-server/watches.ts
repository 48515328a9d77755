/** Watches of memories on a database server, which continue when the store is opened again. */
import type { Namespace } from "../../engine/store/namespace.ts";
import type { ServerStore } from "./store-server.ts";

type Watchable = Pick<ServerStore, "watch">;

interface Watch {
  readonly namespace: Namespace;
  readonly listener: () => void;
  /** Absent while no store is open. */
  stop?: (() => void) | undefined;
}

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
