/** Damage to a database or its log: random, and aimed at critical places. */
import type { Random } from "./random.ts";

/** The files as on disk. Log and index are present if the database was open during the copy. */
export interface DatabaseFiles {
  readonly database: Buffer;
  readonly log: Buffer | undefined;
  /** Never damaged here, because SQLite rebuilds it. */
  readonly index: Buffer | undefined;
}

const PAGE_BYTES = 4_096;
const SECTOR_BYTES = 512;
const FILE_HEADER_BYTES = 100;
const PAGE_HEADER_BYTES = 12;
export const WAL_HEADER_BYTES = 32;
const FRAME_BYTES = 24 + PAGE_BYTES;

/** Neighbouring columns in the file. */
const OWNER_AND_KEY = "anafactkey/";

interface Mishap {
  readonly name: string;
  readonly inflict: (file: Buffer, random: Random) => Buffer;
}

const ANYWHERE: readonly [Mishap, ...Mishap[]] = [
  {
    name: "bits flipped",
    inflict: (file, random) => flipBits(file, random, () => random.below(file.length)),
  },
  {
    name: "bytes overwritten",
    inflict: (file, random) => overwrite(file, random, random.bytes(1 + random.below(64))),
  },
  { name: "a sector zeroed", inflict: (file, random) => zero(file, random, SECTOR_BYTES) },
  { name: "truncated", inflict: (file, random) => file.subarray(0, random.below(file.length)) },
  {
    name: "garbage at the end",
    inflict: (file, random) => Buffer.concat([file, random.bytes(1 + random.below(9_000))]),
  },
];

const OF_DATABASE: readonly [Mishap, ...Mishap[]] = [
  ...ANYWHERE,
  { name: "a page zeroed", inflict: (file, random) => zero(file, random, PAGE_BYTES) },
  { name: "pages swapped", inflict: (file, random) => swap(file, random, { start: 0, length: PAGE_BYTES }) },
  {
    name: "a page duplicated",
    inflict: (file, random) => duplicate(file, random, { start: 0, length: PAGE_BYTES }),
  },
  // At least one page remains: an empty file without a log is a normal state after a kill during the first opening.
  {
    name: "truncated at a page",
    inflict: (file, random) =>
      file.subarray(0, (1 + random.below(file.length / PAGE_BYTES - 1)) * PAGE_BYTES),
  },
  {
    name: "the file's header",
    inflict: (file, random) => flipBits(file, random, () => random.below(FILE_HEADER_BYTES)),
  },
  {
    name: "a page's header",
    inflict: (file, random) => {
      const page = random.below(file.length / PAGE_BYTES) * PAGE_BYTES;
      return flipBits(
        file,
        random,
        () => page + (page === 0 ? FILE_HEADER_BYTES : 0) + random.below(PAGE_HEADER_BYTES),
      );
    },
  },
  {
    name: "where a page's cells are",
    inflict: (file, random) => {
      const page = random.below(file.length / PAGE_BYTES) * PAGE_BYTES;
      return flipBits(file, random, () => page + 8 + random.below(64));
    },
  },
  {
    name: "an owner or key, in a row or an index",
    inflict: (file, random) => {
      const found = file.indexOf(OWNER_AND_KEY, random.below(file.length));
      return found === -1 ? file : flipBits(file, random, () => found + random.below(OWNER_AND_KEY.length));
    },
  },
];

const OF_LOG: readonly [Mishap, ...Mishap[]] = [
  ...ANYWHERE,
  {
    name: "frames swapped",
    inflict: (file, random) => swap(file, random, { start: WAL_HEADER_BYTES, length: FRAME_BYTES }),
  },
  {
    name: "a frame duplicated",
    inflict: (file, random) => duplicate(file, random, { start: WAL_HEADER_BYTES, length: FRAME_BYTES }),
  },
  {
    name: "the log's header",
    inflict: (file, random) => flipBits(file, random, () => random.below(WAL_HEADER_BYTES)),
  },
  {
    name: "shortened by frames",
    inflict: (file, random) => {
      const frames = Math.floor((file.length - WAL_HEADER_BYTES) / FRAME_BYTES);
      return file.subarray(0, WAL_HEADER_BYTES + random.below(frames) * FRAME_BYTES);
    },
  },
  { name: "gone", inflict: () => Buffer.alloc(0) },
];

/** The files after one or two faults of the same kind. */
export interface Damaged {
  readonly name: string;
  readonly part: "database" | "log";
  readonly files: DatabaseFiles;
}

export function damage(files: DatabaseFiles, random: Random): Damaged {
  const part = files.log !== undefined && random.chance(0.4) ? "log" : "database";
  const { name, inflict } = random.pick(part === "log" ? OF_LOG : OF_DATABASE);
  let file: Buffer = Buffer.from(files[part] ?? []);
  for (let times = random.chance(0.2) ? 2 : 1; times > 0 && file.length > 2 * PAGE_BYTES; times--)
    file = inflict(file, random);
  return { part, name: `${part}, ${name}`, files: { ...files, [part]: file } };
}

function flipBits(file: Buffer, random: Random, drawOffset: () => number): Buffer {
  for (let bits = 1 + random.below(4); bits > 0; bits--) {
    const at = drawOffset();
    file[at] = (file[at] ?? 0) ^ (1 << random.below(8));
  }
  return file;
}

function overwrite(file: Buffer, random: Random, bytes: Buffer): Buffer {
  bytes.copy(file, random.below(file.length));
  return file;
}

function zero(file: Buffer, random: Random, length: number): Buffer {
  const at = random.below(Math.ceil(file.length / length)) * length;
  return file.fill(0, at, Math.min(file.length, at + length));
}

/** Consecutive pieces of equal length, beginning at `start`. */
interface Pieces {
  readonly start: number;
  readonly length: number;
}

function swap(file: Buffer, random: Random, pieces: Pieces): Buffer {
  const [one, other] = [drawPiece(file, random, pieces), drawPiece(file, random, pieces)];
  const kept = Buffer.from(file.subarray(one, one + pieces.length));
  file.copy(file, one, other, other + pieces.length);
  kept.copy(file, other);
  return file;
}

function duplicate(file: Buffer, random: Random, pieces: Pieces): Buffer {
  const [from, to] = [drawPiece(file, random, pieces), drawPiece(file, random, pieces)];
  file.copy(file, to, from, from + pieces.length);
  return file;
}

function drawPiece(file: Buffer, random: Random, { start, length }: Pieces): number {
  return start + random.below(Math.floor((file.length - start) / length)) * length;
}
