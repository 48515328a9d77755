/**
 * The keys that may open a store's rows: the current one and, during a change of keys, the former one.
 *
 * The attacker has the database, or an older copy, but no key; or a change of keys is interrupted. A row names its key and opens
 * under no other. During a change, the database holds each of the two keys sealed under the other, so that either of them opens
 * everything and nobody else learns anything; afterwards neither copy remains.
 */

import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { HelmdeckError } from "../errors.ts";
import {
  associatedData,
  ENVELOPE_VERSION,
  encodeHeader,
  FIRST_ENVELOPE_VERSION,
  headerOf,
  KEY_ID_BYTES,
} from "./envelope.ts";
import { MasterKey } from "./master-key.ts";

const CHECK_BYTES = 32;

/** What a database stores about its keys. */
export interface StoredKeys {
  /** For the current key. */
  readonly check: Uint8Array;
  /** Absent in a file of an older schema. */
  readonly storeId?: Uint8Array;
  readonly change?: KeyChange;
  /**
   * Set when rows with a version 1 envelope may exist: see {@link SealingKeys.legacyMark}. `true` in a file of an older schema.
   */
  readonly legacy?: Uint8Array | true;
}

/** An unfinished change of keys. */
export interface KeyChange {
  readonly formerCheck: Uint8Array;
  /** The former key sealed under the current one, and the current one under the former. */
  readonly former: Uint8Array;
  readonly current: Uint8Array;
}

/** Everything derived from one master key. */
export class SealingKeys {
  readonly #master: MasterKey;
  /** 16 hexadecimal digits, shown to people and stored in every envelope. */
  readonly id: string;
  /** Stored in the database, to detect a wrong key at open. */
  readonly check: Uint8Array;
  readonly header: Uint8Array;
  readonly firstHeader: Uint8Array;
  readonly entries: KeyObject;
  readonly digests: KeyObject;
  readonly vectors: KeyObject;
  readonly references: KeyObject;
  readonly history: KeyObject;
  readonly snapshots: KeyObject;
  readonly #marks: KeyObject;
  readonly #keys: KeyObject;

  constructor(master: MasterKey) {
    this.#master = master;
    const id = master.deriveBytes("key id", KEY_ID_BYTES);
    this.id = Buffer.from(id).toString("hex");
    this.check = master.deriveBytes("key check", CHECK_BYTES);
    this.header = encodeHeader(ENVELOPE_VERSION, id);
    this.firstHeader = encodeHeader(FIRST_ENVELOPE_VERSION, id);
    this.entries = master.deriveKey("seal");
    this.digests = master.deriveKey("digest");
    this.vectors = master.deriveKey("seal vectors");
    this.references = master.deriveKey("seal reference vectors");
    this.history = master.deriveKey("seal history");
    this.snapshots = master.deriveKey("seal snapshot keys");
    this.#marks = master.deriveKey("mark");
    this.#keys = master.deriveKey("seal keys");
  }

  matches(check: Uint8Array): boolean {
    return areEqual(check, this.check);
  }

  /** Marks a store that may still hold rows with a version 1 envelope. Only a holder of the key can create it. */
  legacyMark(storeId: Uint8Array): Uint8Array {
    return createHmac("sha256", this.#marks).update("envelope 1\0").update(storeId).digest();
  }

  /** Another master key, sealed under this one for this store. */
  wrap(other: SealingKeys, storeId: Uint8Array): Uint8Array {
    return other.#master.sealUnder(this.#keys, this.header, associatedData(this.header, [], storeId));
  }

  /** Undefined for anything that {@link wrap} did not create for this store. */
  unwrap(wrapped: Uint8Array, storeId: Uint8Array): SealingKeys | undefined {
    if (headerOf(wrapped)?.keyId !== this.id) return undefined;
    const master = MasterKey.openFrom(this.#keys, associatedData(this.header, [], storeId), wrapped);
    return master && new SealingKeys(master);
  }
}

/** `name`: of the database, for a person. */
export function wrongKey(name: string, master: MasterKey): HelmdeckError {
  return new HelmdeckError(
    "key_wrong",
    `The memory database ${name} does not open with the configured key ${keyIdOf(master)}: it was encrypted with another one. ` +
      "Nothing was read or written. Check whether HELMDECK_MEMORY_KEY or HELMDECK_MEMORY_KEY_FILE overrides the key file.",
    { details: { path: name } },
  );
}

/** The public id of a key: 16 hexadecimal digits that reveal nothing about it. */
export function keyIdOf(master: MasterKey): string {
  return new SealingKeys(master).id;
}

export class KeyRing {
  #current: SealingKeys;
  #former: SealingKeys | undefined;
  #acceptsFirstEnvelope = false;
  #mayBeLegacy = false;
  #storeId: Uint8Array | undefined;

  private constructor(own: SealingKeys) {
    this.#current = own;
  }

  /** Undefined when the key does not belong to the store. */
  static open(master: MasterKey, stored: StoredKeys): KeyRing | undefined {
    const ring = new KeyRing(new SealingKeys(master));
    return ring.update(stored) ? ring : undefined;
  }

  /** Undefined in a file of an older schema, whose rows do not bind the store's id. */
  get storeId(): Uint8Array | undefined {
    return this.#storeId;
  }

  get current(): SealingKeys {
    return this.#current;
  }

  get former(): SealingKeys | undefined {
    return this.#former;
  }

  /** Whether rows without the store's id open: until all rows of an older program have been resealed. */
  get acceptsFirstEnvelope(): boolean {
    return this.#acceptsFirstEnvelope;
  }

  find(keyId: string): SealingKeys | undefined {
    return [this.#current, this.#former].find((keys) => keys?.id === keyId);
  }

  /** Whether the stored keys are those of the last update. */
  isUpToDate({ check, change, legacy, storeId }: StoredKeys): boolean {
    const isChanging = change !== undefined;
    return (
      this.#current.matches(check) &&
      (storeId === undefined) === (this.#storeId === undefined) &&
      isChanging === (this.#former !== undefined) &&
      (legacy !== undefined) === this.#mayBeLegacy
    );
  }

  /** Adopts the stored keys. False when no known key unlocks the current ones. */
  update(stored: StoredKeys): boolean {
    const found = this.#resolve(stored);
    if (found === undefined) return false;
    [this.#current, this.#former] = found;
    this.#storeId = stored.storeId;
    this.#mayBeLegacy = stored.legacy !== undefined;
    this.#acceptsFirstEnvelope = mayHoldFirstEnvelope(stored, found[0]);
    return true;
  }

  #resolve({
    check,
    storeId,
    change,
  }: StoredKeys): readonly [SealingKeys, SealingKeys | undefined] | undefined {
    const known = [this.#current, this.#former].filter((keys) => keys !== undefined);
    const current = known.find((keys) => keys.matches(check));
    if (change === undefined || storeId === undefined) return current && [current, undefined];
    if (current !== undefined) return [current, current.unwrap(change.former, storeId)];
    const former = known.find((keys) => keys.matches(change.formerCheck));
    const brought = former?.unwrap(change.current, storeId);
    return brought?.matches(check) === true ? [brought, former] : undefined;
  }
}

function mayHoldFirstEnvelope({ legacy, storeId }: StoredKeys, current: SealingKeys): boolean {
  if (legacy === undefined || legacy === true || storeId === undefined) return legacy === true;
  return areEqual(legacy, current.legacyMark(storeId));
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}
