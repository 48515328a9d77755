/** What was asked for last: one try at a time for each key, successes kept until newer ones need the room, failures not. */

export class LruCache<Value> {
  readonly #most: number;
  /** Least recently asked for first. */
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

  /** What is under way goes on for those who wait for it. */
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
