/** Queues the writers of one subject in this process, so that they do not all wait in the database, each with a connection. */
import { HelmdeckError } from "../../errors.ts";
import { within } from "../../timing.ts";
import type { Namespace } from "../namespace.ts";

export class OwnerQueue {
  readonly #last = new Map<Namespace, Promise<unknown>>();

  /** For each owner, in the order of the calls. Throws `store_locked` if its turn does not come within this time. */
  async alone<T>(
    owners: readonly Namespace[],
    work: () => Promise<T>,
    withinMs = Number.POSITIVE_INFINITY,
  ): Promise<T> {
    const turn = Promise.all(owners.map((owner) => this.#last.get(owner)));
    const running = (withinMs === Number.POSITIVE_INFINITY ? turn : within(withinMs, turn, busy)).then(work);
    const ended = Promise.allSettled([turn, running]);
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

function busy(): never {
  throw new HelmdeckError("store_locked", "This process is still writing for this caller. Try again.");
}
