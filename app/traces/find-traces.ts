/**
 * Finds where a text stands outside of our memory: in OpenClaw's notes, dreams, index and transcripts, and in our exports.
 *
 * It reads every file of OpenClaw's state folder and workspaces, changes none, and keeps nothing of what it looks for. It is
 * limited in time and size, and names what it did not read.
 */
import type { FileHandle } from "node:fs/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { systemCodeOf } from "../../engine/errors.ts";
import type { SqliteDriver } from "../../engine/store/sqlite/sqlite-driver.ts";
import { openInPlace } from "../open-in-place.ts";
import type { OpenClawPlace } from "./openclaw-place.ts";
import type { Phrases } from "./phrases.ts";
import { readDatabase } from "./read-database.ts";
import { type Candidate, listCandidates, listNotes, type TraceKind, type Unread } from "./walk.ts";

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
  readonly unread: readonly Unread[];
  readonly files: number;
  readonly bytes: number;
}

export interface TracesQuery {
  readonly place: OpenClawPlace;
  readonly phrases: Phrases;
  readonly driver: SqliteDriver;
  readonly exports: readonly string[];
  /** Our key and the files of our database. */
  readonly skips: readonly string[];
  readonly withinMs: number;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
  readonly onBytes?: (done: number, total: number) => void;
}

/** A file that is larger is named, not read. */
const LARGEST_FILE_BYTES = 1024 * 1024 * 1024;
const LARGEST_NOTE_BYTES = 4 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
const SQLITE = "SQLite format 3\0";
const PACKED: Readonly<Record<string, string>> = {
  "504b0304": "a compressed archive",
  "25504446": "a PDF",
  "377abcaf": "a compressed archive",
  "425a6839": "a compressed file",
  fd377a58: "a compressed file",
};

export async function findTraces(query: TracesQuery): Promise<Traces> {
  const { place, exports, skips, withinMs, clock = () => performance.now() } = query;
  const deadline = clock() + withinMs;
  const listed = await listCandidates(place, { exports, skips });
  const unread = place.problem === undefined ? listed.unread : [place.problem, ...listed.unread];
  const search = new Search(query, () => clock() > deadline, unread);
  const total = listed.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  for (const file of listed.files) await search.file(file, total);
  return search.traces();
}

/** In how many notes of a workspace a phrase stands; for a gateway, which must not wait for long. */
export async function countNotes(workspace: string, phrases: Phrases, withinMs: number): Promise<number> {
  if (phrases.isEmpty) return 0;
  const deadline = performance.now() + withinMs;
  const { files } = await listNotes(workspace);
  let count = 0;
  for (const { path, sizeBytes } of files) {
    if (performance.now() > deadline) break;
    if (sizeBytes > LARGEST_NOTE_BYTES) continue;
    const file = await openInPlace(path).catch(() => "");
    if (typeof file !== "string" && (await linesIn(file, phrases)).length > 0) count += 1;
  }
  return count;
}

class Search {
  readonly #query: TracesQuery;
  readonly #isOver: () => boolean;
  readonly #found: Trace[] = [];
  readonly #unread: Unread[];
  /** Databases whose rows were read, and whether a phrase stood in one. */
  readonly #databases = new Map<string, boolean>();
  #files = 0;
  #bytes = 0;

  constructor(query: TracesQuery, isOver: () => boolean, unread: readonly Unread[]) {
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
        : await this.#read(candidate).catch((error: unknown) => troubleOf(error));
    if (why !== undefined) this.#unread.push({ path, why });
    else this.#files += 1;
    this.#bytes += sizeBytes;
    this.#query.onBytes?.(this.#bytes, total);
  }

  /** Why it could not be read. */
  async #read(candidate: Candidate): Promise<string | undefined> {
    const { path, kind, isEditable, changedAt } = candidate;
    const file = await openInPlace(path);
    if (typeof file === "string") return file;
    const magic = await beginningOf(file);
    const packed = PACKED[magic.subarray(0, 4).toString("hex")];
    if (packed !== undefined) {
      await file.close();
      return packed;
    }
    const lines = await linesIn(file, this.#query.phrases, unpackerFor(magic), this.#isOver);
    if (magic.toString("latin1") === SQLITE) return this.#readDatabase(candidate, lines.length > 0);
    if (/-(wal|journal)$/.test(path)) return this.#readLog(candidate, lines.length > 0);
    if (lines.length === 0) return undefined;
    const isText = !magic.includes(0);
    this.#found.push({ kind, path, ...(isText && { lines }), isEditable, changedAt });
    return undefined;
  }

  async #readDatabase(candidate: Candidate, hasBytes: boolean): Promise<string | undefined> {
    const { path, kind: otherwise, changedAt } = candidate;
    const { driver, phrases } = this.#query;
    const { found, problem } = await readDatabase({
      ...{ path, driver, phrases, otherwise, isOver: this.#isOver },
    });
    for (const rows of found) this.#found.push({ path, isEditable: false, changedAt, ...rows });
    this.#databases.set(path, found.length > 0);
    if (found.length === 0 && hasBytes) this.#found.push(unused(candidate));
    return problem;
  }

  /** Its pages are the database's, which was read with it. */
  #readLog(candidate: Candidate, hasBytes: boolean): undefined {
    const isInRow = this.#databases.get(candidate.path.replace(/-(wal|journal)$/, ""));
    if (hasBytes && isInRow !== true) this.#found.push(unused(candidate));
  }
}

function unused({ path, kind, changedAt }: Candidate): Trace {
  return { kind, path, isUnused: true, isEditable: false, changedAt };
}

async function beginningOf(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(SQLITE.length), 0, SQLITE.length, 0);
  return buffer.subarray(0, bytesRead);
}

type Unpacker = ReturnType<typeof createGunzip>;

function unpackerFor(magic: Buffer): Unpacker | undefined {
  const hex = magic.toString("hex");
  if (hex.startsWith("1f8b")) return createGunzip();
  return hex.startsWith("28b52ffd") ? createZstdDecompress() : undefined;
}

/** The lines with phrases. Closes the file. Rejects when the time is up, or it does not unpack. */
async function linesIn(
  file: FileHandle,
  phrases: Phrases,
  unpacker?: Unpacker,
  isOver: () => boolean = () => false,
): Promise<readonly number[]> {
  const stream = file.createReadStream({ start: 0, highWaterMark: CHUNK_BYTES });
  const decoder = new TextDecoder("utf-8");
  const reader = phrases.reader();
  let bytes = 0;
  const source: AsyncIterable<Uint8Array> =
    unpacker === undefined ? stream : stream.on("error", (error) => unpacker.destroy(error)).pipe(unpacker);
  try {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (isOver()) throw new Stopped("the time was up");
      if (bytes > LARGEST_FILE_BYTES) throw new Stopped("too big when unpacked");
      reader.read(decoder.decode(chunk, { stream: true }));
    }
    reader.read(decoder.decode());
    reader.end();
    return [...reader.lines];
  } finally {
    stream.destroy();
    unpacker?.destroy();
  }
}

class Stopped extends Error {}

function troubleOf(error: unknown): string {
  if (error instanceof Stopped) return error.message;
  const code = systemCodeOf(error);
  if (code === "EACCES" || code === "EPERM") return "permission was denied";
  if (code === "ENOENT") return "was removed meanwhile";
  return /^(Z_|ZSTD|ERR_)/.test(code) ? "does not unpack" : `the system says ${code}`;
}
