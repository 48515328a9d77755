/**
 * Detects whether a connection's files are still those at their path.
 *
 * The danger is an accident: a process whose database is moved, deleted or restored from a backup keeps writing into a file that
 * nobody will ever find. So device and inode of the database, its log and the log's index are compared with the original ones, by
 * `stat` alone: opening the path would drop SQLite's locks in this process. SQLite itself keeps these files while anybody has
 * them open, so none of them changes legitimately.
 */
import { fstatSync, readdirSync, type Stats, statSync } from "node:fs";

const PARTS = ["database", "log", "index"] as const;
type Part = (typeof PARTS)[number];
type WatchedFiles = Readonly<Record<Part, Stats | undefined>>;

/** The state of the path: `same`, or which of the files is missing or different. */
export type FileState =
  | { readonly kind: "same"; readonly writtenAt: number; readonly logBytes: number }
  | { readonly kind: "other"; readonly part: Part; readonly isThere: boolean };

/** Whether a lost file still has a name elsewhere. */
export type LostFile = "moved" | "deleted";

export class FileWatch {
  readonly #path: string;
  readonly #file: string;
  #known: WatchedFiles;

  /** `path` as given, possibly a link; `file` is its target, beside which the log is. */
  constructor(path: string, file: string) {
    this.#path = path;
    this.#file = file;
    this.#known = this.#statFiles();
  }

  /** Records the current files as those that the connection has open. Call it after the first read. */
  begin(): void {
    this.#known = this.#statFiles();
  }

  /** Costs three `stat`s. */
  state(): FileState {
    const now = this.#statFiles();
    for (const part of PARTS) {
      if (isSameFile(this.#known[part], now[part])) continue;
      return { kind: "other", part, isThere: now[part] !== undefined };
    }
    this.#known = now;
    return { kind: "same", writtenAt: writtenAt(now.database), logBytes: now.log?.size ?? 0 };
  }

  /** Whether the database at the path is the connection's, whatever happened to the log. */
  isDatabaseSame(): boolean {
    return isSameFile(this.#known.database, stat(this.#path));
  }

  /** Whether the log at the path is the connection's own, without foreign writes since the last check. */
  isLogUntouched(): boolean {
    const before = this.#known.log;
    const now = stat(`${this.#file}-wal`);
    return isSameFile(before, now) && before?.size === now?.size && before?.mtimeMs === now?.mtimeMs;
  }

  /** Whether a non-empty log is beside the database. */
  hasLog(): boolean {
    return (stat(`${this.#file}-wal`)?.size ?? 0) > 0;
  }

  /** The modification time of the database at the path. */
  writtenAt(): number {
    return writtenAt(stat(this.#path));
  }

  /** Call it while the connection is open: its descriptor shows whether the file still has a name. */
  lostFile(): LostFile {
    return descriptorsOf(this.#known.database).some(({ nlink }) => nlink > 0) ? "moved" : "deleted";
  }

  #statFiles(): WatchedFiles {
    return {
      database: stat(this.#path),
      log: stat(`${this.#file}-wal`),
      index: stat(`${this.#file}-shm`),
    };
  }
}

/** The database's modification time, in milliseconds. */
function writtenAt(stats: Stats | undefined): number {
  return stats === undefined ? 0 : Math.round(stats.mtimeMs);
}

/** Whether this process has a descriptor of this file open, in any library: reading it would then drop its locks. */
export function isOpenInThisProcess(stats: Stats): boolean {
  return descriptorsOf(stats).length > 0;
}

/** A file that cannot be examined counts as missing. */
export function stat(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isSameFile(a: Stats | undefined, b: Stats | undefined): boolean {
  return a?.ino === b?.ino && a?.dev === b?.dev;
}

function descriptorsOf(stats: Stats | undefined): readonly Stats[] {
  if (stats === undefined) return [];
  return openDescriptors().flatMap((descriptor) => {
    try {
      const open = fstatSync(descriptor);
      return isSameFile(open, stats) ? [open] : [];
    } catch {
      return []; // closed meanwhile
    }
  });
}

function openDescriptors(): readonly number[] {
  try {
    return readdirSync("/dev/fd").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
