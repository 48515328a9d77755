/** Messages of both command lines, in the words of each. */
import type { UnixMs } from "../../engine/store/memory-store.ts";

export interface Presented {
  /** For standard output. */
  readonly answer: readonly string[];
  /** For standard error. */
  readonly notes: readonly string[];
}

/** The command line that prints. */
export interface Voice {
  /** Its name, such as helmdeck-memory. */
  readonly command: string;
  /** How its user stores a fact. */
  readonly storing: string;
  /** The owner of the memory. */
  readonly caller: string;
  readonly now: UnixMs;
  /** Adds colours on a terminal. */
  readonly style: (format: Format, text: string) => string;
}

type Format = "bold" | "dim" | "green" | "yellow" | "red";
