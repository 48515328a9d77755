/**
 * The rows of the table of word pieces of many languages: 37 MB, of which a text needs some kilobytes, so they stay on the disk.
 *
 * Dangers: somebody changes the file after it was checked. So the read that compares the whole file with its checksum in the build
 * also keeps a checksum of each block, and no row is used whose block differs when it is read.
 */
import { createHash, hash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { changedFile, type ModelFile, missingFile, modelFile } from "./artefact.ts";

const FILE = "multilingual-table.bin";
export const ROW_WIDTH = 512;
/** Numbers of 4 bits with a scale of 16 bits for each 32 of them (`artefact/multilingual.py`). */
const NUMBERS_A_SCALE = 32;
const NUMBER_BYTES = ROW_WIDTH / 2;
const ROW_BYTES = NUMBER_BYTES + (2 * ROW_WIDTH) / NUMBERS_A_SCALE;
const ROWS_A_BLOCK = 16;
const BLOCK_BYTES = ROWS_A_BLOCK * ROW_BYTES;
const SUM_BYTES = 32;

export class PieceTable {
  readonly #folder: string;
  readonly #file: number;
  readonly #sums: Buffer;

  /** Throws `model_missing` or `model_changed`. The caller must close it. */
  constructor(
    folder: string,
    { sizeBytes, sha256 }: Pick<ModelFile, "sizeBytes" | "sha256"> = modelFile(FILE),
  ) {
    this.#folder = folder;
    try {
      this.#file = openSync(join(folder, FILE), "r");
    } catch {
      throw missingFile(folder, FILE);
    }
    this.#sums = Buffer.alloc((sizeBytes / BLOCK_BYTES) * SUM_BYTES);
    const whole = createHash("sha256");
    const block = Buffer.alloc(BLOCK_BYTES);
    for (let at = 0; at * BLOCK_BYTES < sizeBytes; at += 1) {
      readSync(this.#file, block, 0, BLOCK_BYTES, at * BLOCK_BYTES);
      whole.update(block);
      sumOf(block).copy(this.#sums, at * SUM_BYTES);
    }
    if (whole.digest("hex") === sha256) return;
    this.close();
    throw changedFile(folder, FILE);
  }

  /** The rows of these pieces, one after the other. Throws `model_changed`. */
  rows(ids: readonly number[]): Float32Array {
    const block = Buffer.alloc(BLOCK_BYTES);
    const rows = new Float32Array(ids.length * ROW_WIDTH);
    for (const [place, id] of ids.entries()) {
      const at = Math.floor(id / ROWS_A_BLOCK);
      readSync(this.#file, block, 0, BLOCK_BYTES, at * BLOCK_BYTES);
      if (!sumOf(block).equals(this.#sums.subarray(at * SUM_BYTES, (at + 1) * SUM_BYTES)))
        throw changedFile(this.#folder, FILE);
      const begin = (id % ROWS_A_BLOCK) * ROW_BYTES;
      unpack(block.subarray(begin, begin + ROW_BYTES), rows.subarray(place * ROW_WIDTH));
    }
    return rows;
  }

  close(): void {
    closeSync(this.#file);
  }
}

function sumOf(block: Buffer): Buffer {
  return hash("sha256", block, "buffer");
}

/** Of two numbers in a byte the lower half is the first. */
function unpack(row: Buffer, into: Float32Array): void {
  for (let at = 0; at < NUMBER_BYTES; at += 1) {
    const scale = halfFloat(row.readUInt16LE(NUMBER_BYTES + 2 * Math.floor((2 * at) / NUMBERS_A_SCALE)));
    const both = row[at] ?? 0;
    into[2 * at] = ((both & 15) - 8) * scale;
    into[2 * at + 1] = ((both >> 4) - 8) * scale;
  }
}

/** Of 16 bits: a sign, five of an exponent, ten of a fraction. */
function halfFloat(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1_023;
  const size = exponent === 0 ? fraction * 2 ** -24 : (1_024 + fraction) * 2 ** (exponent - 25);
  return bits >> 15 === 0 ? size : -size;
}
