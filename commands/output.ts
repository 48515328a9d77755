/** Where a command's words go: the answer to stdout, everything else to stderr, colours only where a person sees them. */
import { styleText } from "node:util";
import { safeJson } from "../app/basics.ts";
import type { OutputStream, Shell } from "./shell.ts";

type Format = Parameters<typeof styleText>[0];

export class Output {
  readonly #shell: Shell;

  constructor(shell: Shell) {
    this.#shell = shell;
  }

  /** One line of the answer. Resolves when it was taken; rejects with EPIPE when the reader has gone. */
  line(text: string): Promise<void> {
    return this.text(`${text}\n`);
  }

  /** A part of the answer with its line ends. */
  text(text: string): Promise<void> {
    return write(this.#shell.stdout, text);
  }

  /** The answer as one line of JSON, exact for programs and harmless for a terminal. */
  json(value: unknown): Promise<void> {
    return this.line(safeJson(value));
  }

  /** A word to the person, beside the answer. */
  note(text: string): Promise<void> {
    return write(this.#shell.stderr, `${text}\n`);
  }

  noteJson(value: unknown): Promise<void> {
    return this.note(safeJson(value));
  }

  /** For an answer: styled when it goes to a terminal that wants colours. */
  styled(format: Format, text: string): string {
    return this.#style(this.#shell.stdout, format, text);
  }

  /** The same for a note. */
  styledNote(format: Format, text: string): string {
    return this.#style(this.#shell.stderr, format, text);
  }

  #style(stream: OutputStream, format: Format, text: string): string {
    // styleText alone would colour a pipe when FORCE_COLOR is set.
    const wanted = stream.isTTY === true && !this.#shell.env.NO_COLOR;
    return wanted ? styleText(format, text, { stream }) : text;
  }
}

/** True when the program that read our output has closed it (`| head`). */
export function isReaderGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

function write(stream: OutputStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
