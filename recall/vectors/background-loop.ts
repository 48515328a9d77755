/** A background loop: runs small steps while there is work, yields between them, and retries after a failure. */
import { asHelmdeckError, type ErrorCode, type HelmdeckError } from "../../engine/errors.ts";
import { nextTurn, pauseAfter, retryAfterMsOf, type Timer } from "../../engine/timing.ts";

export interface BackgroundLoopOptions {
  /** Does the next piece of work; false when there is none. Rejects on temporary failures. */
  readonly step: (signal: AbortSignal) => Promise<boolean>;
  readonly timer: Timer;
  /** From 0 up to, but not including, 1. */
  readonly random: () => number;
  /** Called after each step; for a failed one, with the number of failures since the last success. */
  readonly onStep?: (failure?: StepFailure) => void;
}

export interface StepFailure {
  readonly error: HelmdeckError;
  readonly inARow: number;
}

const PAUSES = { firstMs: 1_000, longestMs: 300_000 };

export class BackgroundLoop {
  readonly #options: BackgroundLoopOptions;
  readonly #ending = new AbortController();
  #state: "idle" | "working" | "waiting" | "closed" = "idle";
  /** Since the last success. */
  #failures = 0;
  /** Set since the last step began. */
  #isWoken = false;
  #lastError: ErrorCode | undefined;
  #cancelPause = (): void => undefined;

  constructor(options: BackgroundLoopOptions) {
    this.#options = options;
  }

  get state(): "idle" | "working" | "waiting" | "closed" {
    return this.#state;
  }

  /** Undefined after a success. */
  get lastError(): ErrorCode | undefined {
    return this.#lastError;
  }

  /** Signals possible new work. Does not shorten a pause. */
  wake(): void {
    this.#isWoken = true;
    if (this.#state !== "idle") return;
    this.#state = "working";
    // Never rejects: a failed step only causes a pause.
    void this.#run();
  }

  /** Aborts the current step by its signal and starts no further one. */
  close(): void {
    this.#state = "closed";
    this.#cancelPause();
    this.#ending.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    for (;;) {
      await nextTurn();
      if (signal.aborted) return;
      this.#isWoken = false;
      const outcome = await this.#options.step(signal).catch(asHelmdeckError);
      if (signal.aborted) return;
      if (typeof outcome !== "boolean") return this.#pause(outcome);
      this.#failures = 0;
      this.#lastError = undefined;
      this.#options.onStep?.();
      if (outcome || this.#isWoken) continue;
      this.#state = "idle";
      return;
    }
  }

  #pause(error: HelmdeckError): void {
    this.#failures += 1;
    this.#lastError = error.code;
    this.#state = "waiting";
    const longest = pauseAfter(this.#failures, PAUSES);
    // With jitter between half and all of the pause, so that many processes do not retry together.
    const pauseMs = retryAfterMsOf(error) + (longest * (1 + this.#options.random())) / 2;
    this.#cancelPause = this.#options.timer(() => {
      this.#state = "working";
      void this.#run();
    }, pauseMs);
    this.#options.onStep?.({ error, inARow: this.#failures });
  }
}
