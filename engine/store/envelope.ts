/**
 * The envelope of all sealed data: version, key id, nonce, ciphertext, tag.
 *
 * AES-256-GCM with a random nonce per write, which limits one key to 2^32 writes, far more than a memory makes. The header and
 * the surrounding data (associated data) are authenticated.
 */
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const LENGTH_BYTES = 4;

export const KEY_ID_BYTES = 8;
export const HEADER_BYTES = 1 + KEY_ID_BYTES;
const CIPHERTEXT_START = HEADER_BYTES + NONCE_BYTES;

/** The version that is written. Version 1 did not bind the store's id and held a bare value. */
export const ENVELOPE_VERSION = 2;
export const FIRST_ENVELOPE_VERSION = 1;

/** The unencrypted header of an envelope. */
export interface EnvelopeHeader {
  readonly version: number;
  /** 16 hexadecimal digits. */
  readonly keyId: string;
}

export function encodeHeader(version: number, keyId: Uint8Array): Uint8Array {
  return Uint8Array.of(version, ...keyId);
}

/** Undefined when it is too short for an envelope. */
export function headerOf(envelope: Uint8Array): EnvelopeHeader | undefined {
  const [version] = envelope;
  if (version === undefined || envelope.byteLength < CIPHERTEXT_START + TAG_BYTES) return undefined;
  const keyId = Buffer.from(envelope.buffer, envelope.byteOffset + 1, KEY_ID_BYTES).toString("hex");
  return { version, keyId };
}

/** `header` from {@link encodeHeader}; `associated` from {@link associatedData}. */
export function sealEnvelope(
  key: KeyObject,
  header: Uint8Array,
  associated: Uint8Array,
  content: Uint8Array,
): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(associated);
  const ciphertext = cipher.update(content);
  cipher.final(); // GCM is a stream mode: final() returns no bytes but computes the tag
  return Buffer.concat([header, nonce, ciphertext, cipher.getAuthTag()]);
}

/** Undefined, for whatever reason, unless this is byte for byte what was sealed with the same associated data. */
export function openEnvelope(
  key: KeyObject,
  associated: Uint8Array,
  envelope: Uint8Array,
): Uint8Array | undefined {
  const tagStart = envelope.byteLength - TAG_BYTES;
  const nonce = envelope.subarray(HEADER_BYTES, CIPHERTEXT_START);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(associated);
  decipher.setAuthTag(envelope.subarray(tagStart));
  const content = decipher.update(envelope.subarray(CIPHERTEXT_START, tagStart));
  try {
    decipher.final();
  } catch {
    return undefined;
  }
  return new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
}

/** Each field after its length, so that different lists never give the same bytes. */
export function associatedData(
  header: Uint8Array,
  texts: readonly string[],
  ...blobs: readonly Uint8Array[]
): Uint8Array {
  const textBytes = texts.reduce((sum, text) => sum + LENGTH_BYTES + Buffer.byteLength(text), 0);
  const blobBytes = blobs.reduce((sum, { byteLength }) => sum + LENGTH_BYTES + byteLength, 0);
  const data = Buffer.allocUnsafe(header.byteLength + textBytes + blobBytes);
  data.set(header);
  let at = header.byteLength;
  for (const text of texts) {
    const written = data.write(text, at + LENGTH_BYTES);
    at = data.writeUInt32BE(written, at) + written;
  }
  for (const blob of blobs) {
    data.set(blob, data.writeUInt32BE(blob.byteLength, at));
    at += LENGTH_BYTES + blob.byteLength;
  }
  return data;
}
