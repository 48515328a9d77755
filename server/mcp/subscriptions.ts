/** One client's resource subscriptions. Every resource changes with the caller's memory. */
import type { MemoryWatch } from "./watch.ts";

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
