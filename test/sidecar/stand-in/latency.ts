/** A model's response time, for the stand-in: one request at a time, like Ollama's default. */
import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

/** The milliseconds for a request with this number of texts. */
export type Latency = (texts: number) => number;

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
