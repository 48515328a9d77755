/** Queues the writers of one subject in this process, so that they do not all wait in the database, each with a connection. */
import type { Namespace } from "../namespace.ts";

export class OwnerQueue {
  readonly #last = new Map<Namespace, Promise<unknown>>();

  /** For each owner, in the order of the calls. */
  async alone<T>(owners: readonly Namespace[], work: () => Promise<T>): Promise<T> {
    const running = Promise.all(owners.map((owner) => this.#last.get(owner))).then(work);
    const ended = running.catch(() => undefined);
    for (const owner of owners) this.#last.set(owner, ended);
    try {
      return await running;
    } finally {
      for (const owner of owners) if (this.#last.get(owner) === ended) this.#last.delete(owner);
    }
  }

  /** Resolves when everything queued so far has finished. */
  async empty(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
