/** A model's response time, for the stand-in: one request at a time, like Ollama's default. */
import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

/** The milliseconds for a request with this number of texts. */
export type Latency = (texts: number) => number;

/**
 * Measured with Ollama 0.24 on two processors during a compile: 15 ms to 1 s for one text, 2.6 to 14.7 s for sixteen, others in
 * proportion. `random` returns 0 (inclusive) to 1 (exclusive).
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

  /** Resolves after the requests before it and its own latency. If the client disconnects, the request takes no time. */
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
