/**
 * Checks that no other account can change a path from which code is loaded.
 *
 * Threat: another account on the machine can write to the folder, a file in it, or a parent folder, where it could replace the
 * folder. Defence: each of these, with links followed, must belong to this account or to root and must not be writable for
 * others. A parent folder may be writable for all if it is sticky, so that only owners can rename entries (/tmp).
 */
import type { Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";

const GROUP_AND_OTHERS = 0o022;
const STICKY = 0o1000;
const ROOT_USER = 0;

export interface Unguarded {
  readonly path: string;
  /** Follows the path in a message: "is writable for other accounts (mode 0775): chmod go-w it". */
  readonly rule: string;
}

/** Caches checked folders, so that many files in one folder cost little. */
export class PathGuard {
  readonly #sound = new Set<string>();

  /** The real path, and its problem if there is one. Throws the system's error if the path cannot be inspected. */
  async examine(path: string): Promise<{ readonly path: string; readonly problem?: Unguarded }> {
    const real = await realpath(path);
    const problem = problemOf(real, await stat(real), false) ?? (await this.#above(dirname(real)));
    return { path: real, ...(problem && { problem }) };
  }

  async #above(folder: string): Promise<Unguarded | undefined> {
    if (this.#sound.has(folder)) return undefined;
    const problem = problemOf(folder, await stat(folder), true);
    if (problem !== undefined) return problem;
    const above = dirname(folder);
    const further = above === folder ? undefined : await this.#above(above);
    if (further === undefined) this.#sound.add(folder);
    return further;
  }
}

function problemOf(path: string, { uid, mode }: Stats, mayBeSticky: boolean): Unguarded | undefined {
  const own = process.geteuid?.();
  if (own === undefined) return undefined; // a system without modes
  if (uid !== own && uid !== ROOT_USER) {
    return { path, rule: `belongs to another account (uid ${uid}), which could change what runs here` };
  }
  if ((mode & GROUP_AND_OTHERS) === 0 || (mayBeSticky && (mode & STICKY) !== 0)) return undefined;
  const shown = (mode & 0o777).toString(8).padStart(4, "0");
  return { path, rule: `is writable for other accounts (mode ${shown}): chmod go-w it` };
}
