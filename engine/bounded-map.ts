/** A map of limited size: whatever was set or used longest ago makes room. */

export interface BoundedMapOptions<Value> {
  /** Default: each entry weighs 1. Asked when the entry is set. */
  readonly weigh?: (value: Value) => number;
  /** Called for each entry that made room. */
  readonly onEvict?: (value: Value) => void;
}

export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number;
  readonly #options: BoundedMapOptions<Value>;
  readonly #weights = new Map<Key, number>();
  #weight = 0;

  /** @param most the weight of all entries; the newest is kept even if it exceeds that alone */
  constructor(most: number, options: BoundedMapOptions<Value> = {}) {
    super();
    this.#most = most;
    this.#options = options;
  }

  /** Like `get`, but counts as a use. */
  use(key: Key): Value | undefined {
    const value = this.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  override set(key: Key, value: Value): this {
    const weight = this.#options.weigh?.(value) ?? 1;
    this.delete(key);
    super.set(key, value);
    this.#weights.set(key, weight);
    this.#weight += weight;
    for (const [oldest, evicted] of this) {
      if (this.#weight <= this.#most || oldest === key) return this;
      this.delete(oldest);
      this.#options.onEvict?.(evicted);
    }
    return this;
  }

  override clear(): void {
    super.clear();
    this.#weights.clear();
    this.#weight = 0;
  }

  override delete(key: Key): boolean {
    this.#weight -= this.#weights.get(key) ?? 0;
    this.#weights.delete(key);
    return super.delete(key);
  }
}
