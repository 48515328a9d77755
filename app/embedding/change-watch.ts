/** Watches for writes of other processes, so that a server embeds them before anybody searches. */
import { BoundedMap } from "../../engine/bounded-map.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import { backgroundTimer, type Timer } from "../../engine/timing.ts";

export interface ChangeWatchOptions {
  /** Cheap: reads no row. */
  readonly revision: (namespace: Namespace) => Promise<number>;
  readonly onChange: (namespace: Namespace) => void;
  /** Calls back after most changes; the regular checks are then only for missed ones. */
  readonly watch?: ((namespace: Namespace, listener: () => void) => () => void) | undefined;
  readonly timer?: Timer;
}

const CHECK_EVERY_MS = 15_000;
const CHECK_FOR_MISSED_EVERY_MS = 300_000;
/** The writing process embeds its entries itself: this one waits, and embeds what is left. */
const CHECK_AFTER_CHANGE_MS = 3_000;
/** The most recently used memories are embedded without a request. */
export const MOST_MEMORIES = 16;

interface Followed {
  /** Undefined until the first check. */
  revision: number | undefined;
  readonly stop: (() => void) | undefined;
}

export class ChangeWatch {
  readonly #options: ChangeWatchOptions;
  readonly #timer: Timer;
  readonly #followed = new BoundedMap<Namespace, Followed>(MOST_MEMORIES, {
    onEvict: ({ stop }) => stop?.(),
  });
  readonly #changed = new Set<Namespace>();
  #cancelRegular = (): void => undefined;
  #cancelSoon: (() => void) | undefined;
  #isClosed = false;

  constructor(options: ChangeWatchOptions) {
    this.#options = options;
    this.#timer = options.timer ?? backgroundTimer;
    this.#schedule();
  }

  /** Starts now. */
  follow(namespace: Namespace): void {
    this.#followed.set(namespace, this.#followed.get(namespace) ?? this.#begin(namespace));
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelRegular();
    this.#cancelSoon?.();
    for (const { stop } of this.#followed.values()) stop?.();
  }

  #begin(namespace: Namespace): Followed {
    const stop = this.#options.watch?.(namespace, () => this.#checkSoon(namespace));
    return { revision: undefined, stop };
  }

  #schedule(): void {
    if (this.#isClosed) return;
    const everyMs = this.#options.watch === undefined ? CHECK_EVERY_MS : CHECK_FOR_MISSED_EVERY_MS;
    const check = () => this.#check([...this.#followed.keys()]).then(() => this.#schedule());
    this.#cancelRegular = this.#timer(() => void check(), everyMs);
  }

  #checkSoon(namespace: Namespace): void {
    if (this.#isClosed) return;
    this.#changed.add(namespace);
    this.#cancelSoon ??= this.#timer(() => {
      this.#cancelSoon = undefined;
      const changed = [...this.#changed];
      this.#changed.clear();
      void this.#check(changed);
    }, CHECK_AFTER_CHANGE_MS);
  }

  /** Never rejects. */
  async #check(namespaces: readonly Namespace[]): Promise<void> {
    for (const namespace of namespaces) {
      const before = this.#followed.get(namespace)?.revision;
      const revision = await this.#options.revision(namespace).catch(() => before);
      const followed = this.#followed.get(namespace);
      if (this.#isClosed) return;
      if (followed === undefined || followed.revision === revision) continue;
      followed.revision = revision;
      this.#options.onChange(namespace);
    }
  }
}
