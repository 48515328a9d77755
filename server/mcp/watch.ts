/** Notices that a subject's memory changed, whichever process wrote: asks for its revision while somebody is subscribed. */
import type { Memory } from "../../app/index.ts";

/** Calls back again and again, so many milliseconds apart; the answer ends it. */
export type Ticker = (callback: () => void, everyMs: number) => () => void;

/** Never keeps the process alive by itself. */
export const processTicker: Ticker = (callback, everyMs) => {
  const interval = setInterval(callback, everyMs);
  interval.unref();
  return () => clearInterval(interval);
};

export interface WatchOptions {
  readonly memory: Pick<Memory, "revision">;
  readonly everyMs: number;
  readonly ticker: Ticker;
}

interface Watched {
  revision: number;
  readonly listeners: Set<() => void>;
  readonly stop: () => void;
  looking: Promise<void> | undefined;
}

/** One look for each watched subject and interval, however many sessions of it are subscribed. */
export class MemoryWatch {
  readonly #options: WatchOptions;
  readonly #watched = new Map<string, Watched>();

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** From its return on no change is missed. Throws when memory is unavailable. The answer ends it. */
  async watch(subject: string, listener: () => void): Promise<() => void> {
    const revision = await this.#options.memory.revision(subject);
    const watched = this.#watched.get(subject) ?? this.#begin(subject, revision);
    watched.listeners.add(listener);
    // Somebody else's watch may have seen a change before ours began, and not one since.
    if (watched.revision < revision) await this.look(subject);
    return () => this.#leave(subject, watched, listener);
  }

  /** Looks now: after a write of our own. Never throws; what could not be looked at is looked at again. */
  async look(subject: string): Promise<void> {
    const watched = this.#watched.get(subject);
    if (watched === undefined) return;
    // A look under way may have read before the write.
    await watched.looking;
    watched.looking ??= this.#look(subject, watched).finally(() => {
      watched.looking = undefined;
    });
    await watched.looking;
  }

  close(): void {
    for (const { stop } of this.#watched.values()) stop();
    this.#watched.clear();
  }

  #begin(subject: string, revision: number): Watched {
    const { ticker, everyMs } = this.#options;
    const stop = ticker(() => void this.look(subject), everyMs);
    const watched: Watched = { revision, listeners: new Set(), stop, looking: undefined };
    this.#watched.set(subject, watched);
    return watched;
  }

  #leave(subject: string, watched: Watched, listener: () => void): void {
    watched.listeners.delete(listener);
    if (watched.listeners.size > 0) return;
    watched.stop();
    if (this.#watched.get(subject) === watched) this.#watched.delete(subject);
  }

  async #look(subject: string, watched: Watched): Promise<void> {
    const revision = await this.#options.memory.revision(subject).catch(() => watched.revision);
    if (revision === watched.revision) return;
    watched.revision = revision;
    for (const listener of watched.listeners) listener();
  }
}
