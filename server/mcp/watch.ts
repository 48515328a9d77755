/**
 * Detects changes of a subject's memory by any process while somebody is subscribed: asks for its revision when the database tells
 * of a change, and at an interval.
 */
import type { OpenMemory } from "../../app/compose.ts";
import type { Memory } from "../../app/memory.ts";

/** Calls back at a fixed interval in milliseconds; the returned function stops it. */
export type Ticker = (callback: () => void, everyMs: number) => () => void;

/** Does not keep the process alive. */
export const processTicker: Ticker = (callback, everyMs) => {
  const interval = setInterval(callback, everyMs);
  interval.unref();
  return () => clearInterval(interval);
};

export interface WatchOptions {
  readonly memory: Pick<Memory, "revision">;
  /** Tells of most changes at once. */
  readonly watch?: OpenMemory["watch"];
  readonly everyMs: number;
  readonly ticker: Ticker;
}

interface Watched {
  revision: number;
  readonly listeners: Set<() => void>;
  readonly stop: () => void;
  looking: Promise<void> | undefined;
}

/** One poll per subject and interval, however many sessions are subscribed. */
export class MemoryWatch {
  readonly #options: WatchOptions;
  readonly #watched = new Map<string, Watched>();

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** After it resolves, no change is missed. Throws if memory is unavailable. The returned function ends the watch. */
  async watch(subject: string, listener: () => void): Promise<() => void> {
    const revision = await this.#options.memory.revision(subject);
    const watched = this.#watched.get(subject) ?? this.#begin(subject, revision);
    watched.listeners.add(listener);
    // An existing watch may have seen a change before ours began, but none since.
    if (watched.revision < revision) await this.look(subject);
    return () => {
      watched.listeners.delete(listener);
      if (watched.listeners.size > 0) return;
      watched.stop();
      if (this.#watched.get(subject) === watched) this.#watched.delete(subject);
    };
  }

  /** Polls now, after a write of our own. Never throws; a failed poll is repeated. */
  async look(subject: string): Promise<void> {
    const watched = this.#watched.get(subject);
    if (watched === undefined) return;
    // A poll in progress may have read before the write.
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
    const { ticker, everyMs, watch } = this.#options;
    const look = () => void this.look(subject);
    const ends = [ticker(look, everyMs), watch?.(subject, look)];
    const stop = () => {
      for (const end of ends) end?.();
    };
    const watched: Watched = { revision, listeners: new Set(), stop, looking: undefined };
    this.#watched.set(subject, watched);
    return watched;
  }

  async #look(subject: string, watched: Watched): Promise<void> {
    const revision = await this.#options.memory.revision(subject).catch(() => watched.revision);
    if (revision === watched.revision) return;
    watched.revision = revision;
    for (const listener of watched.listeners) listener();
  }
}

/** One client's resource subscriptions. Every resource changes with the caller's memory. */
export class Subscriptions {
  readonly #watch: MemoryWatch;
  readonly #subject: string;
  readonly #notify: (uri: string) => void;
  readonly #uris = new Set<string>();
  #watching: Promise<() => void> | undefined;

  constructor(watch: MemoryWatch, subject: string, notify: (uri: string) => void) {
    this.#watch = watch;
    this.#subject = subject;
    this.#notify = notify;
  }

  /** After it resolves, the client is notified of every change. Throws if memory is unavailable. */
  async add(uri: string): Promise<void> {
    this.#watching ??= this.#watch.watch(this.#subject, () => this.#uris.forEach(this.#notify));
    this.#uris.add(uri);
    try {
      await this.#watching;
    } catch (error) {
      this.clear();
      throw error;
    }
  }

  delete(uri: string): void {
    this.#uris.delete(uri);
    if (this.#uris.size === 0) this.clear();
  }

  clear(): void {
    this.#uris.clear();
    this.#watching?.then(
      (stop) => stop(),
      () => {}, // it never began
    );
    this.#watching = undefined;
  }
}
