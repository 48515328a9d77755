/** Buffers log lines and writes all lines of one turn of the event loop at once, because a write costs more than a line. */
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

  /** Also writes the lines buffered in this turn. */
  flush(): void {
    if (this.#waiting === "") return;
    this.#stream.write(this.#waiting);
    this.#waiting = "";
  }
}
