/**
 * Sealing: one entry's value encrypted so that only its own row, unchanged in every clear column, opens it.
 *
 * Who attacks: whoever can read or write the database file, but has no key. What stops them: AES-256-GCM with a fresh
 * random nonce for every write keeps values secret; the associated data is the list of all clear columns, so that a value
 * moved to another row, or a row given another key, owner, expiry or place in history, does not open. What it does not
 * stop: removing rows, or putting a row back as an older copy of itself; lengths and clear columns can be read.
 * Random nonces bound one key to 2^32 writes, far more than a memory sees.
 */
import { createCipheriv, createDecipheriv, createHmac, type KeyObject, randomBytes } from "node:crypto";
import type { MasterKey } from "./master-key.ts";

/** Every column of a row but the sealed value itself, as written to disk. */
export interface ClearColumns {
  readonly seq: number;
  readonly id: string;
  readonly namespace: string;
  readonly origin: string;
  readonly key: string;
  readonly category: string;
  /** A JSON list. */
  readonly tags: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly expiresAt: number | null;
  readonly digest: Uint8Array;
}

const CIPHER = "aes-256-gcm";
const VERSION = 1;
const VERSION_BYTES = 1;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

// The envelope: version, key id, nonce, ciphertext, tag.
const NONCE_START = VERSION_BYTES + KEY_ID_BYTES;
const CIPHERTEXT_START = NONCE_START + NONCE_BYTES;

/** Seals and opens rows under one master key. */
export class Sealer {
  /** Stored in the database, to tell a wrong key at open. */
  readonly keyCheck: Uint8Array;
  /** Version and key id: the start of every envelope, so that a key rotation can tell rows apart. */
  readonly #header: Uint8Array;
  readonly #sealKey: KeyObject;
  readonly #digestKey: KeyObject;

  constructor(master: MasterKey) {
    this.keyCheck = master.deriveBytes("key check", 32);
    this.#header = Uint8Array.of(VERSION, ...master.deriveBytes("key id", KEY_ID_BYTES));
    this.#sealKey = master.deriveKey("seal");
    this.#digestKey = master.deriveKey("digest");
  }

  /**
   * The fingerprint that goes to disk, 32 bytes; it tells whether an entry got the same value again. A bare hash would let
   * a reader of the file confirm guesses, so this is an HMAC, and bound to the entry, so that equal values do not show.
   */
  digest(id: string, value: Uint8Array): Uint8Array {
    return createHmac("sha256", this.#digestKey).update(`${id}\0`).update(value).digest();
  }

  seal(columns: ClearColumns, value: Uint8Array): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#sealKey, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(associatedData(this.#header, columns));
    const ciphertext = cipher.update(value);
    cipher.final(); // GCM streams: nothing is left over, but the tag is made here
    return Buffer.concat([this.#header, nonce, ciphertext, cipher.getAuthTag()]);
  }

  /** The value, or undefined when this is not, byte for byte, a row that was sealed under this key. */
  open(columns: ClearColumns, envelope: Uint8Array): Uint8Array | undefined {
    const tagStart = envelope.byteLength - TAG_BYTES;
    if (tagStart < CIPHERTEXT_START || !startsWith(envelope, this.#header)) return undefined;
    const nonce = envelope.subarray(NONCE_START, CIPHERTEXT_START);
    const decipher = createDecipheriv(CIPHER, this.#sealKey, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(associatedData(this.#header, columns));
    decipher.setAuthTag(envelope.subarray(tagStart));
    const value = decipher.update(envelope.subarray(CIPHERTEXT_START, tagStart));
    try {
      decipher.final();
    } catch {
      return undefined; // one flat answer, whatever the reason
    }
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
}

/** Each field after its length, so that no two rows give the same bytes. A number is never empty text, so null is. */
function associatedData(header: Uint8Array, columns: ClearColumns): Uint8Array {
  const texts = [
    columns.id,
    columns.namespace,
    columns.origin,
    columns.key,
    columns.category,
    columns.tags,
    `${columns.seq}`,
    `${columns.createdAt}`,
    `${columns.updatedAt}`,
    columns.expiresAt === null ? "" : `${columns.expiresAt}`,
  ];
  const textBytes = texts.reduce((sum, text) => sum + LENGTH_BYTES + Buffer.byteLength(text), 0);
  const data = Buffer.allocUnsafe(header.byteLength + textBytes + LENGTH_BYTES + columns.digest.byteLength);
  data.set(header);
  let at = header.byteLength;
  for (const text of texts) {
    const written = data.write(text, at + LENGTH_BYTES);
    at = data.writeUInt32BE(written, at) + written;
  }
  data.set(columns.digest, data.writeUInt32BE(columns.digest.byteLength, at));
  return data;
}

const LENGTH_BYTES = 4;

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return start.every((byte, i) => bytes[i] === byte);
}
