/**
 * Whether and when a service is asked again.
 *
 * A passing failure is tried again after a random pause, so that many clients do not come together. A circuit breaker stops calling
 * a service that keeps failing. After a longer pause it lets one call through as a probe; a success closes the circuit.
 *
 * Implemented here because libraries would add retries, timeouts and events to the plugin's bundle
 * (docs/decisions/0020-the-sidecar-client.md).
 */
import { type Backoff, type Clock, pauseAfter, retryAfterMsOf, sleep } from "../engine/timing.ts";
import { isPassing } from "./service-failures.ts";

export type CircuitState = "closed" | "open" | "half_open";

export interface CircuitBreakerOptions {
  readonly clock: Clock;
  /** From 0 up to, but not including, 1. */
  readonly random: () => number;
  /** The error for a refused caller. */
  readonly refusal: () => Error;
  /** Whether an error counts as a failure of the service; others have no effect. */
  readonly isFailure: (error: unknown) => boolean;
  readonly failuresToOpen?: number;
  readonly pauses?: Backoff;
}

interface RunOptions {
  readonly signal: AbortSignal;
  /** Runs one attempt when there is room; nothing keeps its place during a pause. */
  readonly lane?: <T>(attempt: () => Promise<T>) => Promise<T>;
}

const ATTEMPTS = 3;
/** Full jitter: the first pause is random up to this, each later one up to twice the previous limit. */
const RETRY_PAUSES: Backoff = { firstMs: 250, longestMs: 500 };

export class CircuitBreaker {
  readonly #options: Required<CircuitBreakerOptions>;
  #failures = 0;
  #failedProbes = 0;
  #openUntil: number | undefined;
  #probing = false;

  constructor(options: CircuitBreakerOptions) {
    this.#options = { failuresToOpen: 5, pauses: { firstMs: 5_000, longestMs: 60_000 }, ...options };
  }

  get state(): CircuitState {
    if (this.#openUntil === undefined) return "closed";
    return this.#options.clock.now() < this.#openUntil ? "open" : "half_open";
  }

  /** Waits at least for the service's `Retry-After`, plus the jitter. */
  async run<T>(work: () => Promise<T>, { signal, lane = (attempt) => attempt() }: RunOptions): Promise<T> {
    const { clock, random } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await lane(() => this.#once(work));
      } catch (error) {
        if (attempt === ATTEMPTS || !isPassing(error)) throw error;
        const jitterMs = random() * pauseAfter(attempt, RETRY_PAUSES);
        await sleep(clock.timer, retryAfterMsOf(error) + jitterMs, signal);
      }
    }
  }

  async #once<T>(work: () => Promise<T>): Promise<T> {
    const state = this.state;
    if (state === "open" || (state === "half_open" && this.#probing)) throw this.#options.refusal();
    const isProbe = state === "half_open";
    this.#probing ||= isProbe;
    try {
      const result = await work();
      this.close();
      return result;
    } catch (error) {
      if (this.#options.isFailure(error)) this.#failed(isProbe);
      throw error;
    } finally {
      if (isProbe) this.#probing = false;
    }
  }

  /** Reports that the service works. */
  close(): void {
    this.#failures = 0;
    this.#openUntil = undefined;
    this.#failedProbes = 0;
  }

  #failed(isProbe: boolean): void {
    this.#failures++;
    if (isProbe) this.#failedProbes++;
    // A call from before the circuit opened adds no information.
    const opens = this.#openUntil === undefined && this.#failures >= this.#options.failuresToOpen;
    if (!isProbe && !opens) return;
    const { clock, pauses } = this.#options;
    this.#openUntil = clock.now() + pauseAfter(this.#failedProbes + 1, pauses);
  }
}
