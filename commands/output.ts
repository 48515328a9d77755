/** A command's output: the answer to stdout, everything else to stderr, colours only on a terminal. */
import { styleText } from "node:util";
import { safeJson } from "../app/presenters/safe-json.ts";
import type { OutputStream, Shell } from "./shell.ts";

type Format = Parameters<typeof styleText>[0];

export class Output {
  readonly #shell: Shell;

  constructor(shell: Shell) {
    this.#shell = shell;
  }

  /** Writes one line of the answer. Resolves when it is written; rejects with EPIPE if the reader has closed. */
  line(text: string): Promise<void> {
    return this.text(`${text}\n`);
  }

  /** Writes part of the answer, including its line ends. */
  text(text: string): Promise<void> {
    return write(this.#shell.stdout, text);
  }

  /** Writes the answer as one line of JSON: exact for programs, safe for a terminal. */
  json(value: unknown): Promise<void> {
    return this.line(safeJson(value));
  }

  /** Writes a note for the person to stderr. */
  note(text: string): Promise<void> {
    return write(this.#shell.stderr, `${text}\n`);
  }

  noteJson(value: unknown): Promise<void> {
    return this.note(safeJson(value));
  }

  /** A sentence for stderr: on a terminal for a person, else after its code, for programs. */
  failure({ code, message }: { readonly code: string; readonly message: string }): string {
    return this.#shell.stderr.isTTY === true ? message : `${code}: ${message}`;
  }

  /** Styles part of an answer if stdout is a terminal with colours. */
  styled(format: Format, text: string): string {
    return this.#style(this.#shell.stdout, format, text);
  }

  /** Styles part of a note if stderr is a terminal with colours. */
  styledNote(format: Format, text: string): string {
    return this.#style(this.#shell.stderr, format, text);
  }

  #style(stream: OutputStream, format: Format, text: string): string {
    // styleText alone would colour a pipe if FORCE_COLOR is set.
    const wanted = stream.isTTY === true && !this.#shell.env.NO_COLOR;
    return wanted ? styleText(format, text, { stream }) : text;
  }
}

/** Whether the program that reads our output has closed it (`| head`). */
export function isReaderGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

function write(stream: OutputStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
