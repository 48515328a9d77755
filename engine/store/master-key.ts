/**
 * The master key: 32 bytes that never leave this file; only derived subkeys do.
 *
 * It must not leak into a log line, an error report, a debugger's output or `JSON.stringify`. So the bytes are in a private
 * field, every conversion to text gives a fixed word, and nothing here puts key text into a message. It does not protect against
 * anybody who can read the process's memory.
 */
import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import { inspect } from "node:util";
import { HelmdeckError } from "../errors.ts";
import { openEnvelope, sealEnvelope } from "./envelope.ts";

const KEY_BYTES = 32;
const KEY_TEXT = /^[0-9a-fA-F]{64}$/;

/** Subkeys are bound to this project and to one purpose each. A new purpose gets a new label; labels are never reused. */
const LABEL_PREFIX = "helmdeck-memory/v1/";

export class MasterKey {
  readonly #bytes: Uint8Array;

  /** Copies exactly 32 bytes. */
  constructor(bytes: Uint8Array) {
    if (bytes.byteLength !== KEY_BYTES) throw malformed("The master key", `has ${bytes.byteLength} bytes`);
    this.#bytes = Uint8Array.from(bytes);
  }

  /** `length` deterministic bytes for one purpose (HKDF-SHA256); subkeys reveal nothing about each other. */
  deriveBytes(purpose: string, length: number): Uint8Array {
    return new Uint8Array(hkdfSync("sha256", this.#bytes, "", `${LABEL_PREFIX}${purpose}`, length));
  }

  /** A 32-byte subkey for one purpose, as a KeyObject, which ciphers and HMACs use without copying. */
  deriveKey(purpose: string): KeyObject {
    return createSecretKey(this.deriveBytes(purpose, KEY_BYTES));
  }

  /** Seals this key under another one, for a change of keys. */
  sealUnder(key: KeyObject, header: Uint8Array, associated: Uint8Array): Uint8Array {
    return sealEnvelope(key, header, associated, this.#bytes);
  }

  /** Undefined for anything that {@link sealUnder} did not create with the same data. */
  static openFrom(key: KeyObject, associated: Uint8Array, envelope: Uint8Array): MasterKey | undefined {
    const bytes = openEnvelope(key, associated, envelope);
    return bytes?.byteLength === KEY_BYTES ? new MasterKey(bytes) : undefined;
  }

  toString(): string {
    return "[MasterKey]";
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/**
 * Parses exactly 64 hexadecimal digits. `source` names their origin in the message. Throws `key_malformed`, without showing any
 * of the text.
 */
export function parseKey(hex: string, source: string): MasterKey {
  if (!KEY_TEXT.test(hex)) throw malformed(source, `has ${hex.length} characters`, wrongCharacters(hex));
  return new MasterKey(Buffer.from(hex, "hex"));
}

function wrongCharacters(hex: string): string {
  if (hex !== hex.trim()) return ", with spaces around it";
  return hex.length === 2 * KEY_BYTES ? ", not all of them hexadecimal" : "";
}

function malformed(source: string, found: string, more = ""): HelmdeckError {
  return new HelmdeckError(
    "key_malformed",
    `${source} is not a memory key: it must be exactly 64 hexadecimal digits, but ${found}${more}. ` +
      "Restore the key from your backup; for a new store, create one with `openssl rand -hex 32`.",
    { details: { source } },
  );
}
