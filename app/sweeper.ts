/** Deletes what has expired, again and again, for as long as it is kept open. */
import { backgroundTimer, type Timer } from "../engine/index.ts";

export interface SweeperOptions {
  readonly sweep: () => Promise<unknown>;
  /** 0: never. */
  readonly everyMs: number;
  readonly timer?: Timer;
}

/** Also how often a process that is not used looks at the clock: at least every five minutes, or time is lost count of. */
export const SWEEP_EVERY_MS = 4 * 60 * 1_000;
/** The first sweep comes soon after opening: a process may be restarted more often than it sweeps. */
const FIRST_AFTER_MS = 10_000;

export class Sweeper {
  readonly #options: SweeperOptions;
  #cancel: (() => void) | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;
  #failure: unknown;

  constructor(options: SweeperOptions) {
    this.#options = options;
    if (options.everyMs > 0) this.#schedule(Math.min(FIRST_AFTER_MS, options.everyMs));
  }

  /** What the last sweep failed with, for doctor; undefined when it went well. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Waits for a sweep under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    await this.#running;
  }

  #schedule(delayMs: number): void {
    if (this.#stopped) return;
    const timer = this.#options.timer ?? backgroundTimer;
    this.#cancel = timer(() => {
      this.#running = this.#sweep();
    }, delayMs);
  }

  async #sweep(): Promise<void> {
    try {
      await this.#options.sweep();
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error; // the next one tries again; doctor tells
    }
    this.#schedule(this.#options.everyMs);
  }
}
