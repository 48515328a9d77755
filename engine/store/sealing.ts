/**
 * Sealing: one entry's value encrypted so that only its own row, unchanged in every clear column, opens it; and likewise
 * the vectors that a model made of the value, which say much of what it says.
 *
 * Who attacks: whoever can read or write the database file, but has no key. What stops them: AES-256-GCM with a fresh
 * random nonce for every write keeps values secret; the associated data is the list of all clear columns, so that a value
 * moved to another row, or a row given another key, owner, expiry or place in history, does not open. Vectors have a key of
 * their own and open only beside the entry, owner, value and model that they were made of; those of the program's own reference
 * texts, by which every question is judged, only in their store and for their model. What it does not stop: removing rows, or putting a row back as an older copy of itself; lengths and clear columns can be read.
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

/** What a row of vectors must stand beside; the last three are its entry's own columns. */
export interface VectorColumns {
  readonly space: string;
  readonly dimensions: number;
  readonly id: string;
  readonly namespace: string;
  readonly digest: Uint8Array;
}

/** What the vectors of the program's own reference texts must stand beside. */
export interface ReferenceColumns {
  readonly space: string;
  readonly dimensions: number;
  readonly storeId: Uint8Array;
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
  readonly #vectorKey: KeyObject;
  readonly #referenceKey: KeyObject;

  constructor(master: MasterKey) {
    this.keyCheck = master.deriveBytes("key check", 32);
    this.#header = Uint8Array.of(VERSION, ...master.deriveBytes("key id", KEY_ID_BYTES));
    this.#sealKey = master.deriveKey("seal");
    this.#digestKey = master.deriveKey("digest");
    this.#vectorKey = master.deriveKey("seal vectors");
    this.#referenceKey = master.deriveKey("seal reference vectors");
  }

  /**
   * The fingerprint that goes to disk, 32 bytes; it tells whether an entry got the same value again. A bare hash would let
   * a reader of the file confirm guesses, so this is an HMAC, and bound to the entry, so that equal values do not show.
   */
  digest(id: string, value: Uint8Array): Uint8Array {
    return createHmac("sha256", this.#digestKey).update(`${id}\0`).update(value).digest();
  }

  seal(columns: ClearColumns, value: Uint8Array): Uint8Array {
    return this.#encrypt(this.#sealKey, associatedData(this.#header, columns), value);
  }

  /** The value, or undefined when this is not, byte for byte, a row that was sealed under this key. */
  open(columns: ClearColumns, envelope: Uint8Array): Uint8Array | undefined {
    return this.#decrypt(this.#sealKey, associatedData(this.#header, columns), envelope);
  }

  sealVectors(columns: VectorColumns, content: Uint8Array): Uint8Array {
    return this.#encrypt(this.#vectorKey, vectorData(this.#header, columns), content);
  }

  openVectors(columns: VectorColumns, envelope: Uint8Array): Uint8Array | undefined {
    return this.#decrypt(this.#vectorKey, vectorData(this.#header, columns), envelope);
  }

  sealReferences(columns: ReferenceColumns, content: Uint8Array): Uint8Array {
    return this.#encrypt(this.#referenceKey, referenceData(this.#header, columns), content);
  }

  openReferences(columns: ReferenceColumns, envelope: Uint8Array): Uint8Array | undefined {
    return this.#decrypt(this.#referenceKey, referenceData(this.#header, columns), envelope);
  }

  #encrypt(key: KeyObject, associated: Uint8Array, content: Uint8Array): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(associated);
    const ciphertext = cipher.update(content);
    cipher.final(); // GCM streams: nothing is left over, but the tag is made here
    return Buffer.concat([this.#header, nonce, ciphertext, cipher.getAuthTag()]);
  }

  #decrypt(key: KeyObject, associated: Uint8Array, envelope: Uint8Array): Uint8Array | undefined {
    const tagStart = envelope.byteLength - TAG_BYTES;
    if (tagStart < CIPHERTEXT_START || !startsWith(envelope, this.#header)) return undefined;
    const nonce = envelope.subarray(NONCE_START, CIPHERTEXT_START);
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(associated);
    decipher.setAuthTag(envelope.subarray(tagStart));
    const content = decipher.update(envelope.subarray(CIPHERTEXT_START, tagStart));
    try {
      decipher.final();
    } catch {
      return undefined; // one flat answer, whatever the reason
    }
    return new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
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
  return lengthPrefixed(header, texts, columns.digest);
}

function vectorData(header: Uint8Array, columns: VectorColumns): Uint8Array {
  const texts = [columns.space, `${columns.dimensions}`, columns.id, columns.namespace];
  return lengthPrefixed(header, texts, columns.digest);
}

function referenceData(header: Uint8Array, { space, dimensions, storeId }: ReferenceColumns): Uint8Array {
  return lengthPrefixed(header, [space, `${dimensions}`], storeId);
}

function lengthPrefixed(header: Uint8Array, texts: readonly string[], digest: Uint8Array): Uint8Array {
  const textBytes = texts.reduce((sum, text) => sum + LENGTH_BYTES + Buffer.byteLength(text), 0);
  const data = Buffer.allocUnsafe(header.byteLength + textBytes + LENGTH_BYTES + digest.byteLength);
  data.set(header);
  let at = header.byteLength;
  for (const text of texts) {
    const written = data.write(text, at + LENGTH_BYTES);
    at = data.writeUInt32BE(written, at) + written;
  }
  data.set(digest, data.writeUInt32BE(digest.byteLength, at));
  return data;
}

const LENGTH_BYTES = 4;

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return start.every((byte, i) => bytes[i] === byte);
}
