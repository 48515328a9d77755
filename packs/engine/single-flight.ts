/** Request coalescing: concurrent runs that need the same answer share one handler execution. */
import { type Limits, onAbort, orAborted } from "../../engine/timing.ts";

export type Progress = (done: number, message?: string) => void;

/** A caller that waits for an answer, or the flight on behalf of all its callers. */
export interface Waiter {
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

interface Flight<Answer> {
  readonly waiters: Set<Waiter>;
  readonly limits: Limits;
  readonly answer: Promise<Answer>;
}

export class SingleFlight<Answer> {
  readonly #open = new Map<string, Flight<Answer>>();
  readonly #flying = new Set<Promise<unknown>>();

  /**
   * The answer of the flight with this id; the first caller starts it. A caller whose signal fires leaves without affecting
   * the others. When nobody is left, the flight is aborted, and the next caller starts a new one.
   */
  async join(
    id: string,
    waiter: Waiter,
    openLimits: () => Limits,
    work: (flight: Waiter) => Promise<Answer>,
  ): Promise<Answer> {
    const flight = this.#open.get(id) ?? this.#begin(id, openLimits(), work);
    flight.waiters.add(waiter);
    const stopListening = onAbort(waiter.signal, () => {
      flight.waiters.delete(waiter);
      if (flight.waiters.size === 0) flight.limits.abort(waiter.signal.reason);
    });
    try {
      return await orAborted(orAborted(flight.answer, flight.limits.signal), waiter.signal);
    } finally {
      stopListening();
    }
  }

  /** Resolves when every flight has ended, including abandoned ones. */
  async settled(): Promise<void> {
    while (this.#flying.size > 0) await Promise.allSettled(this.#flying);
  }

  #begin(id: string, limits: Limits, work: (flight: Waiter) => Promise<Answer>): Flight<Answer> {
    const waiters = new Set<Waiter>();
    const progress: Progress = (done, message) => {
      for (const waiter of waiters) waiter.progress(done, message);
    };
    const answer = work({ signal: limits.signal, progress });
    const flight = { waiters, limits, answer };
    this.#open.set(id, flight);
    onAbort(limits.signal, () => this.#close(id, flight));
    const ended = answer
      .catch(() => {}) // the waiters get the error
      .finally(() => {
        limits.release();
        this.#close(id, flight);
        this.#flying.delete(ended);
      });
    this.#flying.add(ended);
    return flight;
  }

  /** Nobody can join it any more. */
  #close(id: string, flight: Flight<Answer>): void {
    if (this.#open.get(id) === flight) this.#open.delete(id);
  }
}
