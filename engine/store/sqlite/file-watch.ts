/**
 * Whether the files that a connection has open are still those at their path.
 *
 * Who attacks: mishap. A database that is moved, deleted or put back from a backup while a process has it open leaves that
 * process writing into a file that nobody will ever find. What stops it: device and inode of the database, its log and the
 * log's index are compared with what they were, by `stat` alone: opening the path would drop SQLite's locks in this process.
 * SQLite itself keeps these files in place for as long as anybody has them open, so none of them ever changes by right.
 */
import { fstatSync, readdirSync, type Stats, statSync } from "node:fs";

const PARTS = ["database", "log", "index"] as const;
type Part = (typeof PARTS)[number];
type Looked = Readonly<Record<Part, Stats | undefined>>;

/** What is at the path now: `same`, or which of the files is missing or another one. */
export type Place =
  | { readonly kind: "same"; readonly writtenAt: number; readonly logBytes: number }
  | { readonly kind: "other"; readonly part: Part; readonly isThere: boolean };

/** Whether a file that is no longer at its path still has a name elsewhere. */
export type LostFile = "moved" | "deleted";

export class FileWatch {
  readonly #path: string;
  readonly #file: string;
  #known: Looked;

  /** `path` as it was asked for, perhaps a link; `file` what it led to, beside which the log lies. */
  constructor(path: string, file: string) {
    this.#path = path;
    this.#file = file;
    this.#known = this.#look();
  }

  /** Takes what is there now for what the connection has open: right after it was opened and has read. */
  begin(): void {
    this.#known = this.#look();
  }

  /** Costs three `stat`s. */
  place(): Place {
    const now = this.#look();
    for (const part of PARTS) {
      if (isSameFile(this.#known[part], now[part])) continue;
      return { kind: "other", part, isThere: now[part] !== undefined };
    }
    this.#known = now;
    return { kind: "same", writtenAt: writtenAt(now.database), logBytes: now.log?.size ?? 0 };
  }

  /** The database at the path is the one that the connection has open, whatever became of the log. */
  isDatabaseSame(): boolean {
    return isSameFile(this.#known.database, stat(this.#path));
  }

  /** The log at the path is the connection's own, and nobody has written to it since it was last seen in place. */
  isLogUntouched(): boolean {
    const before = this.#known.log;
    const now = stat(`${this.#file}-wal`);
    return isSameFile(before, now) && before?.size === now?.size && before?.mtimeMs === now?.mtimeMs;
  }

  /** A log with something in it is beside the database. */
  hasLog(): boolean {
    return (stat(`${this.#file}-wal`)?.size ?? 0) > 0;
  }

  /** When the database at the path was last written. */
  writtenAt(): number {
    return writtenAt(stat(this.#path));
  }

  /** While the connection is open: its own descriptor knows whether the file has a name left. */
  lostFile(): LostFile {
    return descriptorsOf(this.#known.database).some(({ nlink }) => nlink > 0) ? "moved" : "deleted";
  }

  #look(): Looked {
    return {
      database: stat(this.#path),
      log: stat(`${this.#file}-wal`),
      index: stat(`${this.#file}-shm`),
    };
  }
}

/** When the database itself was last written, to the millisecond. */
function writtenAt(stats: Stats | undefined): number {
  return stats === undefined ? 0 : Math.round(stats.mtimeMs);
}

/** Whether any descriptor of this process, of whatever library, leads to this file: then reading it would drop its locks. */
export function isHeldHere(stats: Stats): boolean {
  return descriptorsOf(stats).length > 0;
}

/** What cannot be looked at counts as gone. */
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
