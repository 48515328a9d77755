/** How long a call tries to reach a server, and how a server that has stopped answering is noticed. */
import { setTimeout as delay } from "node:timers/promises";
import { processTimer } from "../../timing.ts";
import { isRefusal } from "./postgres-errors.ts";

/** For a server that refuses connections. One that starts, or that another one replaces, gets the call's whole patience. */
const UNREACHABLE_MS = 800;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [20, 500];

/** The attempts of one call. */
export class Attempts {
  readonly begunAt = performance.now();
  /** The end of the call's patience. */
  readonly until: number;
  readonly #hosts: number;
  #failed = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #unreachableSince = this.begunAt;

  /** @param hosts each of them is tried once, whatever the time */
  constructor(patienceMs: number, hosts: number) {
    this.until = this.begunAt + patienceMs;
    this.#hosts = hosts;
  }

  /** `isAnswered`: a server was reached, although the attempt failed. */
  noteFailure(isAnswered: boolean): void {
    this.#failed += 1;
    if (isAnswered) this.#unreachableSince = performance.now();
  }

  get hasTime(): boolean {
    const until = Math.min(this.until, this.#unreachableSince + UNREACHABLE_MS);
    return performance.now() + this.#pauseMs < until || this.#failed < this.#hosts;
  }

  async pause(): Promise<void> {
    await delay(this.#pauseMs * (0.5 + Math.random() / 2)); // prevents all engines from reconnecting at the same moment
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
  }
}

/** Between attempts to connect to a server that refuses them: longer after each refusal. */
const [FIRST_REFUSED_MS, LONGEST_REFUSED_MS] = [1_000, 15_000];

/**
 * What one server refuses this process: the password, the role, the database. Each attempt would be a line in the server's log, so
 * there is one at a time, after a pause; meanwhile, every caller gets the refusal at once. Another password is tried at once.
 */
export class Refusals {
  #last: { error: unknown; password: unknown; pauseMs: number; until: number } | undefined;

  /** Throws the last refusal. Otherwise connect, and give what comes of it to the returned function. */
  begin(password: unknown): (failure: unknown) => void {
    const last = this.#last?.password === password ? this.#last : undefined;
    if (last !== undefined && performance.now() < last.until) throw last.error;
    if (last !== undefined) last.until = Number.POSITIVE_INFINITY; // this attempt is the only one
    return (error) => {
      const pauseMs = last === undefined ? FIRST_REFUSED_MS : Math.min(LONGEST_REFUSED_MS, 2 * last.pauseMs);
      const refusal = { error, password, pauseMs, until: performance.now() + pauseMs };
      this.#last = error instanceof Error && isRefusal(error) ? refusal : undefined;
    };
  }
}

/** A piece of work may take this long before it is asked whether the server still answers, and again after each answer. */
const ASK_EVERY_MS = 1_000;

/**
 * A machine that hangs and a network that drops packets close no connection: their statements would wait as long as the longest
 * one may take.
 */
export class SilenceWatch {
  readonly #answers: () => Promise<boolean>;
  #asking: Promise<boolean> | undefined;

  /** `answers`: whether a new connection gets an answer, within a few seconds. */
  constructor(answers: () => Promise<boolean>) {
    this.#answers = answers;
  }

  /** Calls `onSilence` once if the server answers nobody any more. The returned function ends the watch. */
  begin(onSilence: () => void): () => void {
    let isOver = false;
    const askLater = (): (() => void) => processTimer(() => void ask(), ASK_EVERY_MS);
    const ask = async (): Promise<void> => {
      const answers = await this.#ask();
      if (isOver) return;
      if (answers) cancel = askLater();
      else onSilence();
    };
    let cancel = askLater();
    return () => {
      isOver = true;
      cancel();
    };
  }

  /** Once for all that ask at the same time. */
  #ask(): Promise<boolean> {
    this.#asking ??= this.#answers().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }
}
