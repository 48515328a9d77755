/** Our files as the file system shows them. Never opened here: closing a descriptor would drop SQLite's locks. */
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, relative, sep } from "node:path";
import { defined } from "../../engine/defined.ts";
import { foreignOwner, isFileError } from "../../engine/private-file.ts";

export type FileFacts =
  | { readonly kind: "absent" }
  /** `sharedMode` is the mode, such as "0644", when group or others have any access. */
  /** `owner` is the other account's uid when this process runs as root. */
  | { readonly kind: "file"; readonly sharedMode?: string; readonly owner?: number }
  | { readonly kind: "other" };

const GROUP_AND_OTHERS = 0o077;
/** Files that SQLite and the store keep beside a database. */
const COMPANIONS = ["", "-wal", "-shm", "-journal", "-reserve.tmp"];

export async function fileFacts(path: string): Promise<FileFacts> {
  try {
    const stats = await stat(path);
    if (!stats.isFile()) return { kind: "other" };
    const mode = stats.mode & 0o777;
    const isShared = (mode & GROUP_AND_OTHERS) !== 0;
    return {
      kind: "file",
      ...(isShared && { sharedMode: `0${mode.toString(8).padStart(3, "0")}` }),
      ...defined({ owner: foreignOwner(stats) }),
    };
  } catch (error) {
    return { kind: isFileError(error, "ENOENT") ? "absent" : "other" };
  }
}

/** Files beside the database whose names begin like its own: copies that keep forgotten facts. */
export async function copiesBeside(databasePath: string): Promise<readonly string[]> {
  const name = basename(databasePath);
  const stem = name.slice(0, name.length - extname(name).length);
  const own = new Set(COMPANIONS.map((ending) => name + ending));
  const names = await readdir(dirname(databasePath)).catch(() => []);
  return names.filter((other) => other.startsWith(stem) && !own.has(other)).sort();
}

/** Whether a file is somewhere under another file's folder. */
export function isBeside(path: string, other: string): boolean {
  const way = relative(dirname(other), path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`);
}
