/** Notices what other processes write, so that a server embeds it although nobody searches through that server. */
import { backgroundTimer, type Namespace, type Timer } from "../../engine/index.ts";
import { OPEN_NAMESPACES } from "../../recall/index.ts";

export interface ChangeWatchOptions {
  /** Cheap: reads no row. */
  readonly revision: (namespace: Namespace) => Promise<number>;
  readonly onChange: (namespace: Namespace) => void;
  readonly timer?: Timer;
}

const LOOK_EVERY_MS = 15_000;

export class ChangeWatch {
  readonly #options: ChangeWatchOptions;
  /** Least recently used first; undefined until it was looked at. */
  readonly #revisions = new Map<Namespace, number | undefined>();
  #cancel = (): void => undefined;
  #isClosed = false;

  constructor(options: ChangeWatchOptions) {
    this.#options = options;
    this.#schedule();
  }

  /** From now on. */
  follow(namespace: Namespace): void {
    const revision = this.#revisions.get(namespace);
    this.#revisions.delete(namespace);
    this.#revisions.set(namespace, revision);
    for (const oldest of this.#revisions.keys().take(Math.max(0, this.#revisions.size - OPEN_NAMESPACES)))
      this.#revisions.delete(oldest);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#cancel = (this.#options.timer ?? backgroundTimer)(() => void this.#look(), LOOK_EVERY_MS);
  }

  async #look(): Promise<void> {
    for (const [namespace, before] of [...this.#revisions]) {
      const revision = await this.#options.revision(namespace).catch(() => before);
      if (this.#isClosed) return;
      if (revision === before || !this.#revisions.has(namespace)) continue;
      this.#revisions.set(namespace, revision);
      this.#options.onChange(namespace);
    }
    this.#schedule();
  }
}
