/**
 * Files and folders that an operator names: read whole within a limit, and checked for who else could change them.
 *
 * Threat: another account on the machine can write to the file or folder, or to one above it, where it could put another in its
 * place; or the name is that of a pipe or device, which never ends. Defence: {@link PathGuard}; and a file is opened without waiting,
 * must be a regular one, and is read up to its limit.
 */
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { systemCodeOf } from "./errors.ts";

/** Of a file that has no limit of its own, such as OpenClaw's configuration. */
const MOST_BYTES = 16 * 1_024 * 1_024;

/** `problem` follows the path in a message. */
export type GivenFile =
  | { readonly text: string }
  | { readonly problem: string; readonly isMissing?: boolean };

/** The text of a UTF-8 file of at most this many bytes. */
export async function readGivenFile(path: string, mostBytes = MOST_BYTES): Promise<GivenFile> {
  let file: FileHandle | undefined;
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) return { problem: "is not a regular file" };
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(mostBytes + 1));
    if (bytesRead > mostBytes) return { problem: `has more than ${mostBytes} bytes` };
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(buffer.subarray(0, bytesRead)) };
  } catch (error) {
    if (error instanceof TypeError) return { problem: "is not UTF-8 text" };
    const code = systemCodeOf(error);
    return {
      problem: `cannot be read (${code}): check its path, owner and mode`,
      isMissing: code === "ENOENT" || code === "ENOTDIR",
    };
  } finally {
    await file?.close();
  }
}

const GROUP_AND_OTHERS = 0o022;
const STICKY = 0o1000;
const ROOT_USER = 0;

export interface Unguarded {
  readonly path: string;
  /** Follows the path in a message: "is writable for other accounts (mode 0775): chmod go-w it". */
  readonly rule: string;
}

/**
 * Checks that no other account can change what is at a path: with links followed, it and each folder above must belong to this
 * account or to root and must not be writable for others. A folder above may be writable for all if it is sticky, so that only
 * owners can rename entries (/tmp).
 *
 * Caches checked folders, so that many files in one folder cost little.
 */
export class PathGuard {
  readonly #sound = new Set<string>();

  /** The real path, and its problem if there is one. Throws the system's error if the path cannot be inspected. */
  async examine(path: string): Promise<{ readonly path: string; readonly problem?: Unguarded }> {
    const real = await realpath(path);
    const problem = problemOf(real, await stat(real), false) ?? (await this.#above(dirname(real)));
    return { path: real, ...(problem && { problem }) };
  }

  /** The problem of the folder that a file would be created in, or of one above it. */
  async examineAbove(path: string): Promise<Unguarded | undefined> {
    return this.#above(await realpath(dirname(path)));
  }

  async #above(folder: string): Promise<Unguarded | undefined> {
    if (this.#sound.has(folder)) return undefined;
    const above = dirname(folder);
    let problem = problemOf(folder, await stat(folder), true);
    if (above !== folder) problem ??= await this.#above(above);
    if (problem === undefined) this.#sound.add(folder);
    return problem;
  }
}

function problemOf(path: string, { uid, mode }: Stats, mayBeSticky: boolean): Unguarded | undefined {
  const own = process.geteuid?.();
  if (own === undefined) return undefined; // a system without modes
  if (uid !== own && uid !== ROOT_USER) {
    return { path, rule: `belongs to another account (uid ${uid}), which could change it` };
  }
  if ((mode & GROUP_AND_OTHERS) === 0 || (mayBeSticky && (mode & STICKY) !== 0)) return undefined;
  const shown = (mode & 0o777).toString(8).padStart(4, "0");
  return { path, rule: `is writable for other accounts (mode ${shown}): chmod go-w it` };
}
