/** Log lines that leave together: all of one turn of the event loop in one write, since a write for each costs more than the line. */
import type { Writable } from "node:stream";

export class LogLines {
  readonly #stream: Writable;
  #waiting = "";

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  write(line: string): void {
    if (this.#waiting === "") setImmediate(() => this.flush());
    this.#waiting += line;
  }

  /** Also what waits for the end of this turn. */
  flush(): void {
    if (this.#waiting === "") return;
    this.#stream.write(this.#waiting);
    this.#waiting = "";
  }
}
