/**
 * Stops asking a service that keeps failing, and starts again by itself: after a pause one call goes through as a probe,
 * and its success closes the circuit. No timer runs; the pause is looked at when somebody calls.
 *
 * Our own, because the libraries of the field bring retries, timeouts and events along into the plugin's bundle for what
 * are these few lines (docs/decisions/0020-the-sidecar-client.md).
 */
import { type Backoff, type Clock, pauseAfter } from "../engine/basics.ts";

export type CircuitState = "closed" | "open" | "half_open";

export interface CircuitBreakerOptions {
  readonly clock: Clock;
  /** Says what a refused caller is told. */
  readonly refusal: () => Error;
  /** Whether an error speaks against the service; others count neither way. */
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

  /** The service was seen to work. */
  close(): void {
    this.#failures = 0;
    this.#openUntil = undefined;
    this.#failedProbes = 0;
  }

  #failed(isProbe: boolean): void {
    this.#failures++;
    if (isProbe) this.#failedProbes++;
    // A call from before the circuit opened says nothing new.
    const opens = this.#openUntil === undefined && this.#failures >= this.#options.failuresToOpen;
    if (!isProbe && !opens) return;
    const { clock, pauses } = this.#options;
    this.#openUntil = clock.now() + pauseAfter(this.#failedProbes + 1, pauses);
  }
}
