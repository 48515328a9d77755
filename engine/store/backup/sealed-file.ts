/**
 * Encrypts a whole file: one plain line that describes it, then its bytes in chunks.
 *
 * The attacker can read and change the file: edit, move, drop or replace chunks, rewrite the line, cut the end off or add to it.
 * Each file has its own key (HKDF of the master key with 16 random bytes as salt), each chunk's nonce holds its number and
 * whether it is the last, and the line is authenticated with every chunk. This is the STREAM construction (Hoang, Reyhanitabar,
 * Rogaway, Vizár 2015), as in age. No output may be used before the last chunk was verified.
 */
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto";
import { constants, type FileHandle, open } from "node:fs/promises";
import { HelmdeckError } from "../../errors.ts";
import { keyIdOf } from "../key-ring.ts";
import type { MasterKey } from "../master-key.ts";
import {
  type BackupFacts,
  type BackupHeader,
  encodeBackupHeader,
  parseBackupHeader,
} from "./backup-header.ts";

const CIPHER = "aes-256-gcm";
const TAG_BYTES = 16;
const SALT_BYTES = 16;
const CHUNK_BYTES = 64 * 1_024;
const LONGEST_LINE_BYTES = 4_096;

export type OnBytes = (done: number, total: number) => void;

/** Encrypts a file into another one, which must be open and empty. */
export async function sealFile(
  { from, to }: { readonly from: string; readonly to: FileHandle },
  { key, facts }: { readonly key: MasterKey; readonly facts: BackupFacts },
  onBytes: OnBytes = () => {},
): Promise<void> {
  const salt = randomBytes(SALT_BYTES).toString("hex");
  const line = encodeBackupHeader({ ...facts, keyId: keyIdOf(key), salt });
  const fileKey = keyOf(key, salt);
  await to.appendFile(line);
  const source = await open(from, "r");
  try {
    const { size } = await source.stat();
    const count = Math.max(1, Math.ceil(size / CHUNK_BYTES));
    for (let number = 0; number < count; number += 1) {
      const content = await bytesAt(source, number * CHUNK_BYTES, CHUNK_BYTES);
      await to.appendFile(sealChunk({ fileKey, line, number, isLast: number === count - 1 }, content));
      onBytes(number * CHUNK_BYTES + content.length, size);
    }
  } finally {
    await source.close();
  }
}

/** The header of a sealed file. Not authenticated: it may claim anything. Throws `invalid_input`, `store_newer`. */
export async function readBackupHeader(path: string): Promise<BackupHeader> {
  return withFile(path, async (source) => (await headerIn(source, path)).header);
}

/**
 * Decrypts the file into another one, which must be open and empty. Throws `key_wrong` for a key other than the header's, and
 * `store_corrupt` when the file is incomplete or changed; discard the output then.
 */
export async function openSealedFile(
  { from, to }: { readonly from: string; readonly to: FileHandle },
  key: MasterKey,
  onBytes: OnBytes = () => {},
): Promise<BackupHeader> {
  return withFile(from, async (source) => {
    const { header, line } = await headerIn(source, from);
    if (header.keyId !== keyIdOf(key)) throw otherKey(from, header.keyId, keyIdOf(key));
    const fileKey = keyOf(key, header.salt);
    const { size } = await source.stat();
    const sealedBytes = CHUNK_BYTES + TAG_BYTES;
    const count = Math.max(1, Math.ceil((size - line.length) / sealedBytes));
    for (let number = 0; number < count; number += 1) {
      const sealed = await bytesAt(source, line.length + number * sealedBytes, sealedBytes);
      const content = openChunk({ fileKey, line, number, isLast: number === count - 1 }, sealed);
      if (content === undefined)
        throw new HelmdeckError(
          "store_corrupt",
          `The backup ${from} is damaged or incomplete: it was cut off or changed. Nothing was restored from it; use another backup.`,
          { details: { path: from } },
        );
      await to.appendFile(content);
      onBytes(line.length + number * sealedBytes + sealed.length, size);
    }
    return header;
  });
}

/** The place of a chunk: a key is for one file, and `line` is authenticated with each of its chunks. */
export interface Chunk {
  readonly fileKey: KeyObject;
  readonly line: Uint8Array;
  /** From 0. */
  readonly number: number;
  readonly isLast: boolean;
}

export function sealChunk({ fileKey, line, number, isLast }: Chunk, content: Uint8Array): Buffer {
  const cipher = createCipheriv(CIPHER, fileKey, nonceOf(number, isLast), { authTagLength: TAG_BYTES });
  cipher.setAAD(line);
  return Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined unless it was sealed for this place. */
export function openChunk({ fileKey, line, number, isLast }: Chunk, sealed: Uint8Array): Buffer | undefined {
  if (sealed.length < TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, fileKey, nonceOf(number, isLast), { authTagLength: TAG_BYTES });
  decipher.setAAD(line);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const content = decipher.update(sealed.subarray(0, -TAG_BYTES));
  try {
    decipher.final();
    return content;
  } catch {
    return undefined;
  }
}

function keyOf(key: MasterKey, salt: string): KeyObject {
  return key.deriveKey(`seal backup/${salt}`);
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(number, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

async function headerIn(source: FileHandle, path: string) {
  const start = await bytesAt(source, 0, LONGEST_LINE_BYTES);
  const end = start.indexOf("\n");
  const header = end < 0 ? undefined : parseBackupHeader(start.toString("utf8", 0, end), path);
  if (header === undefined) throw invalid(path, "is not a backup that this program made");
  return { header, line: start.subarray(0, end + 1) };
}

async function bytesAt(source: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await source.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

async function withFile<T>(path: string, work: (source: FileHandle) => Promise<T>): Promise<T> {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const source = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw invalid(path, "cannot be opened; check the path and the file's owner and mode", cause);
  });
  try {
    if (!(await source.stat()).isFile()) throw invalid(path, "is not a regular file");
    return await work(source);
  } finally {
    await source.close();
  }
}

function invalid(path: string, why: string, cause?: unknown): HelmdeckError {
  return new HelmdeckError("invalid_input", `${path} ${why}.`, { details: { field: "file", path }, cause });
}

function otherKey(path: string, needed: string, found: string): HelmdeckError {
  return new HelmdeckError(
    "key_wrong",
    `The backup ${path} needs the key ${needed}, but the configured key is ${found}. Set ` +
      "HELMDECK_MEMORY_KEY_FILE to the file of that key; nothing was changed.",
    { details: { path, needed, found } },
  );
}
