/**
 * A cache of async results: concurrent requests for a key share one attempt; successes are kept until they are evicted, failures
 * are not.
 */

export class LruCache<Value> {
  readonly #most: number;
  /** Least recently used first. */
  readonly #known = new Map<string, Promise<Value>>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string, make: () => Promise<Value>): Promise<Value> {
    const value = this.#known.get(key) ?? this.#make(key, make);
    this.#known.delete(key);
    this.#known.set(key, value);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= this.#most) break;
      this.#known.delete(oldest);
    }
    return value;
  }

  /** A request in progress continues for its callers. */
  forget(key: string): void {
    this.#known.delete(key);
  }

  #make(key: string, make: () => Promise<Value>): Promise<Value> {
    const value = make();
    value.catch(() => {
      if (this.#known.get(key) === value) this.#known.delete(key);
    });
    return value;
  }
}
