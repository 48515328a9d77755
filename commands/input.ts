/** Reads input (a value, lines to import) from stdin or a file, with a size limit. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { HelmdeckError, invalidField, isHelmdeckError, systemCodeOf } from "../app/basics.ts";
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
  return { name: path, open: () => bytesOfFile(path) };
}

async function* bytesOfFile(path: string): AsyncGenerator<Buffer> {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
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
