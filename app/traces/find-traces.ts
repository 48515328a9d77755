/**
 * Finds where a text stands outside of our memory: in OpenClaw's notes, dreams, index and transcripts, and in our exports.
 *
 * It reads every file of OpenClaw's state folder and workspaces, changes none, and keeps nothing of what it looks for. It is
 * limited in time and size, and names what it did not read.
 */
import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { systemCodeOf } from "../../engine/errors.ts";
import type { SqliteDriver } from "../../engine/store/sqlite/sqlite-driver.ts";
import { LINK, openInPlace } from "../open-in-place.ts";
import {
  encodingOf,
  type FileText,
  LARGEST_FILE_BYTES,
  magicOf,
  Stopped,
  textIn,
  unusedPacked,
} from "./file-text.ts";
import type { OpenClawPlace, Unsearched } from "./openclaw-place.ts";
import type { Phrases } from "./phrases.ts";
import type { PlacesOutside } from "./places-outside.ts";
import { readDatabase } from "./read-database.ts";
import { type Candidate, listCandidates, listNotes, type TraceKind } from "./walk.ts";

export interface Trace {
  readonly kind: TraceKind;
  readonly path: string;
  /** From 1, in order; absent for a database and for a file that is not text. */
  readonly lines?: readonly number[];
  /** Of a database: absent for bytes that belong to no row. */
  readonly table?: string;
  readonly rows?: number;
  /** Keys of OpenClaw's conversations. */
  readonly sessions?: readonly string[];
  /** Bytes of a database that no row uses any more. */
  readonly isUnused?: true;
  readonly isEditable: boolean;
  readonly changedAt: number;
}

export interface Traces {
  readonly found: readonly Trace[];
  readonly unread: readonly Unsearched[];
  readonly files: number;
  readonly bytes: number;
}

export interface TracesQuery {
  readonly place: OpenClawPlace;
  readonly phrases: Phrases;
  readonly driver: SqliteDriver;
  readonly exports: readonly string[];
  /** Files that facts were imported from. */
  readonly imports: readonly string[];
  readonly outside: PlacesOutside;
  /** Our key and the files of our database. */
  readonly skips: readonly string[];
  readonly withinMs: number;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
  readonly onBytes?: (done: number, total: number) => void;
}

const LARGEST_NOTE_BYTES = 4 * 1024 * 1024;
const SQLITE = "SQLite format 3\0";
const PACKED: Readonly<Record<string, string>> = {
  "504b0304": "a compressed archive",
  "25504446": "a PDF",
  "377abcaf": "a compressed archive",
  "425a6839": "a compressed file",
  "52617221": "a compressed archive",
  "04224d18": "a compressed file",
  fd377a58: "a compressed file",
};

export async function findTraces(query: TracesQuery): Promise<Traces> {
  const { place, exports, imports, outside, skips, withinMs, clock = () => performance.now() } = query;
  const deadline = clock() + withinMs;
  const listed = await listCandidates(place, {
    ...{ exports, imports, skips },
    extraPaths: outside.extraPaths,
  });
  const search = new Search(query, () => clock() > deadline, [...outside.unsearched, ...listed.unread]);
  const total = listed.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  for (const file of listed.files) await search.file(file, total);
  return search.traces();
}

/** How many notes hold a phrase, and whether each was looked at. */
export interface NotesCount {
  readonly count: number;
  readonly isComplete: boolean;
}

/** Of one workspace; for a gateway, which must not wait for long. Notes that are links do not count. */
export async function countNotes(workspace: string, phrases: Phrases, withinMs: number): Promise<NotesCount> {
  if (phrases.isEmpty) return { count: 0, isComplete: false };
  const deadline = performance.now() + withinMs;
  const isOver = () => performance.now() > deadline;
  const { files, unread } = await listNotes(workspace);
  let count = 0;
  let isComplete =
    phrases.leftOut === 0 && unread.every(({ path, why }) => !/\.md$/i.test(path) || why.startsWith(LINK));
  for (const { path, sizeBytes } of files) {
    const holds =
      isOver() || sizeBytes > LARGEST_NOTE_BYTES ? undefined : await noteHolds(path, phrases, isOver);
    if (holds === undefined) isComplete = false;
    else if (holds) count += 1;
  }
  return { count, isComplete };
}

/** Undefined when it cannot be read in time. */
async function noteHolds(
  path: string,
  phrases: Phrases,
  isOver: () => boolean,
): Promise<boolean | undefined> {
  try {
    const file = await openInPlace(path);
    if (typeof file === "string") return undefined;
    return (await textIn(file, phrases, { isOver })).lines.length > 0;
  } catch {
    return undefined;
  }
}

class Search {
  readonly #query: TracesQuery;
  readonly #isOver: () => boolean;
  readonly #found: Trace[] = [];
  readonly #unread: Unsearched[];
  /** Databases whose rows were read: whether a phrase stood in one, and the marks of compressed values. */
  readonly #databases = new Map<
    string,
    { readonly isInRow: boolean; readonly packed: ReadonlySet<string> }
  >();
  #files = 0;
  #bytes = 0;

  constructor(query: TracesQuery, isOver: () => boolean, unread: readonly Unsearched[]) {
    this.#query = query;
    this.#isOver = isOver;
    this.#unread = [...unread];
  }

  traces(): Traces {
    return { found: this.#found, unread: this.#unread, files: this.#files, bytes: this.#bytes };
  }

  async file(candidate: Candidate, total: number): Promise<void> {
    const { path, sizeBytes } = candidate;
    const why = this.#isOver()
      ? "the time was up"
      : sizeBytes > LARGEST_FILE_BYTES
        ? `too big (${Math.round(sizeBytes / 1024 / 1024)} MiB)`
        : await this.#read(candidate).catch((error: unknown) => {
            if (error instanceof Stopped) return error.message;
            const code = systemCodeOf(error);
            if (code === "EACCES" || code === "EPERM") return "permission was denied";
            if (code === "ENOENT") return "was removed meanwhile";
            return /^(Z_|ZSTD|ERR_)/.test(code) ? "does not unpack" : `the system says ${code}`;
          });
    if (why !== undefined) this.#unread.push({ path, why });
    else this.#files += 1;
    this.#bytes += sizeBytes;
    this.#query.onBytes?.(this.#bytes, total);
  }

  /** Why it could not be read, or not wholly. */
  async #read(candidate: Candidate): Promise<string | undefined> {
    const { path } = candidate;
    const file = await openInPlace(path);
    if (typeof file === "string") return file;
    const magic = await magicOf(file);
    const packed = PACKED[magic.subarray(0, 4).toString("hex")];
    if (packed !== undefined) {
      await file.close();
      return packed;
    }
    const before = await file.stat();
    const text = await textIn(file, this.#query.phrases, { magic, isOver: this.#isOver });
    const problem = await this.#take(candidate, magic, text);
    return problem ?? (isSame(before, await lstat(path)) ? undefined : "was changed while it was read");
  }

  async #take(candidate: Candidate, magic: Buffer, text: FileText): Promise<string | undefined> {
    const { path, kind, isEditable, changedAt } = candidate;
    if (magic.toString("latin1") === SQLITE) return this.#takeDatabase(candidate, text);
    if (/-(wal|journal)$/.test(path))
      return this.#takeUnused(candidate, text, path.replace(/-(wal|journal)$/, ""));
    const { lines } = text;
    if (lines.length === 0) return undefined;
    const isText = !magic.includes(0) || encodingOf(magic) !== "utf-8";
    this.#found.push({ kind, path, ...(isText && { lines }), isEditable, changedAt });
    return undefined;
  }

  async #takeDatabase(candidate: Candidate, text: FileText): Promise<string | undefined> {
    const { path, kind: otherwise, changedAt } = candidate;
    const { driver, phrases } = this.#query;
    const { found, packed, problem } = await readDatabase({
      ...{ path, driver, phrases, otherwise, isOver: this.#isOver },
    });
    for (const rows of found) this.#found.push({ path, isEditable: false, changedAt, ...rows });
    this.#databases.set(path, { isInRow: found.length > 0, packed });
    const left = await this.#takeUnused(candidate, text, path);
    return [problem, left].filter((one) => one !== undefined).join("; ") || undefined;
  }

  /** What a database's file, or its log, holds beside the rows. */
  async #takeUnused(candidate: Candidate, text: FileText, database: string): Promise<string | undefined> {
    const { isInRow = false, packed = new Set<string>() } = this.#databases.get(database) ?? {};
    const file = await openInPlace(candidate.path);
    if (typeof file === "string") return file;
    const { isFound, unreadable } = await unusedPacked(file, this.#query.phrases, {
      ...{ at: text.packedAt, used: packed, isOver: this.#isOver },
    });
    if (isFound || (text.lines.length > 0 && !isInRow)) this.#found.push(unused(candidate));
    return unreadable === 0 ? undefined : UNREADABLE_REST;
  }
}

const UNREADABLE_REST =
  "holds compressed text of deleted rows, which cannot be read until OpenClaw compacts it";

function isSame(before: Stats, { ino, size, mtimeMs }: Stats): boolean {
  return before.ino === ino && before.size === size && before.mtimeMs === mtimeMs;
}

function unused({ path, kind, changedAt }: Candidate): Trace {
  return { kind, path, isUnused: true, isEditable: false, changedAt };
}
