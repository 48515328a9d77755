/** The time that a model takes, for the stand-in: one request at a time, as Ollama works unless it is told otherwise. */
import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

/** Milliseconds for a request of so many texts. */
export type Latency = (texts: number) => number;

/**
 * As seen with Ollama 0.24 on two processors with a compile beside it: 15 ms to 1 s for one text, 2.6 to 14.7 s for sixteen; others in
 * proportion. `random` gives 0 up to but not 1.
 */
export function busyLatency(random: () => number): Latency {
  return (texts) => {
    if (texts === 0) return 0;
    const share = (texts - 1) / 15;
    const least = 15 + share * (2_600 - 15);
    const most = 1_000 + share * (14_700 - 1_000);
    return least * (most / least) ** random();
  };
}

export class OneAtATime {
  latency: Latency | undefined;
  #last: Promise<void> = Promise.resolve();

  /** Resolves when the request has had its turn and its time. One whose caller has gone takes none. */
  turn(texts: number, response: ServerResponse): Promise<void> {
    const { latency } = this;
    if (latency === undefined) return Promise.resolve();
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const mine = this.#last.then(async () => {
      await pause(latency(texts), undefined, { signal: gone.signal }).catch(() => {});
    });
    this.#last = mine;
    return mine;
  }
}
