/** Deletes expired entries periodically while memory is open. */
import { backgroundTimer, type Timer } from "../engine/timing.ts";

export interface SweeperOptions {
  readonly sweep: () => Promise<unknown>;
  /** 0: never. */
  readonly everyMs: number;
  readonly timer?: Timer;
}

/** Also how often an idle process reads the clock: at least every five minutes, or observed time is lost. */
export const SWEEP_EVERY_MS = 4 * 60 * 1_000;
/** The first sweep runs soon after opening: a process may be restarted more often than it sweeps. */
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

  /** The last sweep's error, for doctor; undefined after a success. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Waits for a running sweep. */
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
      this.#failure = error; // the next one retries; doctor reports it
    }
    this.#schedule(this.#options.everyMs);
  }
}
