/** Reads input (a value, lines to import) from stdin or a file, with a size limit; and asks a person. */
import { once } from "node:events";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { HelmdeckError, invalidField, isHelmdeckError, systemCodeOf } from "../engine/errors.ts";
import type { Shell } from "./shell.ts";

/** A source of input, with its name for messages. */
export interface InputSource {
  readonly name: string;
  /** Called once, by the reader: a file opened earlier could fail before anybody handles the error. */
  readonly open: () => AsyncIterable<Buffer | string>;
}

/** `-` is stdin; anything else names a file. */
export function inputSource(shell: Shell, path: string): InputSource {
  if (path === "-") return { name: "standard input", open: () => shell.stdin };
  return fileSource(path);
}

/** Without O_NONBLOCK, opening a named pipe would wait for a writer. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK;

/** A regular file, opened like any other or by the given function. */
export function fileSource(path: string, opened = () => open(path, READ)): InputSource {
  return { name: path, open: () => bytesOfFile(path, opened) };
}

async function* bytesOfFile(path: string, opened: () => Promise<FileHandle>): AsyncGenerator<Buffer> {
  const file = await opened();
  try {
    await refusePipe(file, path);
    yield* file.createReadStream({ autoClose: false });
  } finally {
    await file.close();
  }
}

/** A folder fails later, when it is read. */
async function refusePipe(file: FileHandle, path: string): Promise<void> {
  const stats = await file.stat();
  if (stats.isFile() || stats.isDirectory()) return;
  throw invalidField("file", "is not a regular file; give - and send it to standard input", { named: path });
}

/**
 * The complete text of a source. Throws `invalid_input` as soon as it exceeds `limitBytes`, and if the text is not UTF-8 or
 * cannot be read.
 */
export async function readText(source: InputSource, limitBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytesOf(source)) {
    size += chunk.length;
    if (size > limitBytes) throw tooLong(source.name, limitBytes);
    chunks.push(chunk);
  }
  return decode(Buffer.concat(chunks), source.name);
}

/** The source's bytes. A read failure becomes `invalid_input` with the file and the reason. */
export async function* bytesOf({ name, open }: InputSource): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of open()) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  } catch (error) {
    throw isHelmdeckError(error) ? error : unreadable(name, error);
  }
}

function decode(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new HelmdeckError(
      "invalid_input",
      `${name} is not UTF-8 text. Memory stores text only; convert it first.`,
      {
        details: { source: name },
      },
    );
  }
}

function tooLong(name: string, limitBytes: number): HelmdeckError {
  const message = `${name} is too long: more than ${limitBytes} bytes, and a value can have 64 KiB. Store a summary, or where it is.`;
  return new HelmdeckError("invalid_input", message, { details: { source: name, limitBytes } });
}

const READ_TROUBLE: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "permission was denied",
  EPERM: "permission was denied",
  ENOTDIR: "a part of the path is not a folder",
};

function unreadable(name: string, error: unknown): HelmdeckError {
  const code = systemCodeOf(error);
  const why = READ_TROUBLE[code] ?? `the system says ${code}`;
  return new HelmdeckError(
    "invalid_input",
    `Cannot read ${name}: ${why}. Check the path and its permissions.`,
    {
      details: { source: name, systemCode: code },
      cause: error,
    },
  );
}

/** Whether somebody can be asked, and sees the question. */
export function isPersonAt({ stdin, stderr }: Shell): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** Asks on a terminal. False at the end of the input (Ctrl-D), too. */
export async function agreesAt(shell: Shell, question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await answerAt(shell, `${question} [y/N] `)).trim());
}

/** Asks for one of the choices; undefined for any other answer. */
export async function chosenAt<Choice extends string>(
  shell: Shell,
  question: string,
  choices: readonly Choice[],
): Promise<Choice | undefined> {
  const answer = (await answerAt(shell, `${question} [${choices.join("/")}/N] `)).trim().toLowerCase();
  return choices.find((choice) => answer === choice);
}

/** The line that a person types; empty at the end of the input. */
export async function answerAt({ stdin, stderr }: Shell, question: string): Promise<string> {
  if (stdin.readableEnded) return ""; // an earlier question met the end, which readline does not report again
  const lines = createInterface({ input: stdin, output: stderr, terminal: false });
  try {
    const ended = once(lines, "close").then(() => "");
    return await Promise.race([lines.question(question), ended]);
  } finally {
    lines.close();
  }
}

/** Questions to a person, one after the other. */
export interface Dialog {
  /** The line that was typed; undefined at the end of the input (Ctrl-D). */
  readonly ask: (question: string) => Promise<string | undefined>;
  readonly close: () => void;
}

/** Unlike {@link agreesAt}, it keeps what was typed ahead. */
export function openDialog({ stdin, stderr }: Shell): Dialog {
  const lines = createInterface({ input: stdin, terminal: false });
  const typed = lines[Symbol.asyncIterator]();
  return {
    ask: async (question) => {
      stderr.write(question);
      const { value, done } = await typed.next();
      return done === true ? undefined : value;
    },
    close: () => lines.close(),
  };
}
