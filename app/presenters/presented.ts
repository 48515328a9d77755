/** What both command lines say to people, and in whose words. */
import type { UnixMs } from "../../engine/index.ts";

export interface Presented {
  /** For standard output. */
  readonly answer: readonly string[];
  /** What is said beside it, for standard error. */
  readonly notes: readonly string[];
}

/** The command line that speaks. */
export interface Voice {
  /** How it is called, such as helmdeck-memory. */
  readonly command: string;
  /** How somebody who has only this command has a fact stored. */
  readonly storing: string;
  /** Whose memory it is. */
  readonly caller: string;
  readonly now: UnixMs;
  /** Colours, where a person sees them. */
  readonly style: (format: Format, text: string) => string;
}

export type Format = "bold" | "dim" | "green" | "yellow" | "red";
