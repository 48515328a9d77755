/**
 * A cache of async results: concurrent requests for a key share one attempt; successes are kept until they are evicted, failures
 * are not.
 */
import { BoundedMap } from "../../engine/bounded-map.ts";

export class LruCache<Value> {
  readonly #known: BoundedMap<string, Promise<Value>>;

  constructor(most: number) {
    this.#known = new BoundedMap(most);
  }

  get(key: string, make: () => Promise<Value>): Promise<Value> {
    return this.#known.use(key) ?? this.#make(key, make);
  }

  /** A request in progress continues for its callers. */
  forget(key: string): void {
    this.#known.delete(key);
  }

  #make(key: string, make: () => Promise<Value>): Promise<Value> {
    const value = make();
    this.#known.set(key, value);
    value.catch(() => {
      if (this.#known.get(key) === value) this.#known.delete(key);
    });
    return value;
  }
}
