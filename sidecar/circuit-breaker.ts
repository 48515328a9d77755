/**
 * A circuit breaker: stops calling a service that keeps failing. After a pause it lets one call through as a probe; a success
 * closes the circuit. It needs no timer: the pause is checked on each call.
 *
 * Implemented here because libraries would add retries, timeouts and events to the plugin's bundle
 * (docs/decisions/0020-the-sidecar-client.md).
 */
import { type Backoff, type Clock, pauseAfter } from "../engine/timing.ts";

export type CircuitState = "closed" | "open" | "half_open";

export interface CircuitBreakerOptions {
  readonly clock: Clock;
  /** The error for a refused caller. */
  readonly refusal: () => Error;
  /** Whether an error counts as a failure of the service; others have no effect. */
  readonly isFailure: (error: unknown) => boolean;
  readonly failuresToOpen?: number;
  readonly pauses?: Backoff;
}

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

  async run<T>(work: () => Promise<T>): Promise<T> {
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
