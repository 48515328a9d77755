/** Runs that ask for the same answer at the same time share one handler: a flight, with everyone who waits aboard. */
import { onAbort, orAborted, type RunLimits } from "./limits.ts";

export type Progress = (done: number, message?: string) => void;

/** Someone who waits for an answer, or the flight on behalf of all of them. */
export interface Waiter {
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

interface Flight<Answer> {
  readonly aboard: Set<Waiter>;
  readonly limits: RunLimits;
  readonly answer: Promise<Answer>;
}

export class Flights<Answer> {
  readonly #open = new Map<string, Flight<Answer>>();
  readonly #flying = new Set<Promise<unknown>>();

  /**
   * The answer of the flight with this id, begun by whoever comes first. Who leaves early (their signal fires) leaves
   * alone; when nobody is left, the flight is aborted and the next one to come begins anew.
   */
  async join(
    id: string,
    waiter: Waiter,
    openLimits: () => RunLimits,
    work: (flight: Waiter) => Promise<Answer>,
  ): Promise<Answer> {
    const flight = this.#open.get(id) ?? this.#begin(id, openLimits(), work);
    flight.aboard.add(waiter);
    const stopListening = onAbort(waiter.signal, () => this.#leave(flight, waiter));
    try {
      return await orAborted(orAborted(flight.answer, flight.limits.signal), waiter.signal);
    } finally {
      stopListening();
    }
  }

  /** Resolves when every flight, also one that nobody waits for any more, has ended. */
  async landed(): Promise<void> {
    while (this.#flying.size > 0) await Promise.allSettled(this.#flying);
  }

  #begin(id: string, limits: RunLimits, work: (flight: Waiter) => Promise<Answer>): Flight<Answer> {
    const aboard = new Set<Waiter>();
    const progress: Progress = (done, message) => {
      for (const waiter of aboard) waiter.progress(done, message);
    };
    const answer = work({ signal: limits.signal, progress });
    const flight = { aboard, limits, answer };
    this.#open.set(id, flight);
    onAbort(limits.signal, () => this.#close(id, flight));
    const ended = answer
      .catch(() => {}) // those aboard are told
      .finally(() => {
        limits.release();
        this.#close(id, flight);
        this.#flying.delete(ended);
      });
    this.#flying.add(ended);
    return flight;
  }

  #leave(flight: Flight<Answer>, waiter: Waiter): void {
    flight.aboard.delete(waiter);
    if (flight.aboard.size === 0) flight.limits.abort(waiter.signal.reason);
  }

  /** Nobody boards it any more. */
  #close(id: string, flight: Flight<Answer>): void {
    if (this.#open.get(id) === flight) this.#open.delete(id);
  }
}
