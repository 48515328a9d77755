/**
 * Seals an entry's value so that it opens only in its own row, in its own store, with unchanged clear columns. Seals the value's
 * vectors and former values likewise.
 *
 * The attacker can read or write the database file but has no key. AES-256-GCM keeps values secret. The associated data is the
 * store's id and all clear columns, so a value moved to another row or database, or a row with another key, owner, expiry or
 * place in a history, does not open. Vectors have their own key and open only with their entry, owner, value and model; those of
 * the reference texts, which every question is normalised with, only for their model. It does not prevent removing rows, or
 * replacing a row by an older copy of itself; lengths and clear columns are readable.
 */
import { createHmac } from "node:crypto";
import {
  associatedData,
  ENVELOPE_VERSION,
  FIRST_ENVELOPE_VERSION,
  headerOf,
  openEnvelope,
  sealEnvelope,
} from "./envelope.ts";
import type { KeyRing, SealingKeys } from "./key-ring.ts";
import { type Content, decodeContent, encodeContent } from "./writer.ts";

/** Every column of a row except the sealed value, as stored. */
export interface ClearColumns {
  readonly seq: number;
  readonly id: string;
  readonly namespace: string;
  readonly origin: string;
  readonly key: string;
  readonly category: string;
  /** A JSON array. */
  readonly tags: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly expiresAt: number | null;
  readonly digest: Uint8Array;
}

/** The associated columns of a row of vectors; the last three are its entry's own columns. */
export interface VectorColumns {
  readonly space: string;
  readonly dimensions: number;
  readonly id: string;
  readonly namespace: string;
  readonly digest: Uint8Array;
}

/** The associated columns of reference vectors. */
export interface ReferenceColumns {
  readonly space: string;
  readonly dimensions: number;
}

/** The associated columns of a former value. */
export interface HistoryColumns {
  readonly number: number;
  readonly entryId: string;
  readonly writtenAt: number;
}

/** The associated columns of the key of a snapshot's file. */
export interface SnapshotColumns {
  readonly namespace: string;
  /** Of the file. */
  readonly name: string;
  readonly build: string;
  readonly cursor: number;
  readonly madeAt: number;
}

/** Authenticated fields: strings and one blob. */
interface Fields {
  readonly texts: readonly string[];
  readonly blob: Uint8Array;
}

type Purpose = "entries" | "vectors" | "references" | "history" | "snapshots";

export interface SealerParts {
  readonly ring: KeyRing;
  /** Called when a row names an unknown key or store: refreshes the ring if the store's keys have changed. */
  readonly onUnknown?: () => void;
}

/** Seals under the current key, and opens rows sealed under any key of the ring. */
export class Sealer {
  readonly ring: KeyRing;
  readonly #onUnknown: () => void;

  constructor({ ring, onUnknown = () => undefined }: SealerParts) {
    this.ring = ring;
    this.#onUnknown = onUnknown;
  }

  /**
   * The 32-byte fingerprint for disk, which binds vectors to their value. A bare hash would let a reader of the file confirm
   * guesses, so this is an HMAC. It includes the entry's id, so that equal values do not show.
   */
  digest(id: string, value: Uint8Array): Uint8Array {
    return createHmac("sha256", this.ring.current.digests).update(`${id}\0`).update(value).digest();
  }

  seal(columns: ClearColumns, content: Content): Uint8Array {
    return this.#seal("entries", entryFields(columns), encodeContent(content));
  }

  /** Undefined unless this is, byte for byte, a row sealed for this store under one of its keys. */
  open(columns: ClearColumns, envelope: Uint8Array): Content | undefined {
    const opened = this.#open("entries", entryFields(columns), envelope);
    if (opened === undefined) return undefined;
    return opened.version === FIRST_ENVELOPE_VERSION
      ? { value: opened.content }
      : decodeContent(opened.content);
  }

  sealVectors(columns: VectorColumns, content: Uint8Array): Uint8Array {
    return this.#seal("vectors", vectorFields(columns), content);
  }

  openVectors(columns: VectorColumns, envelope: Uint8Array): Uint8Array | undefined {
    return this.#open("vectors", vectorFields(columns), envelope)?.content;
  }

  sealReferences(columns: ReferenceColumns, content: Uint8Array): Uint8Array {
    return this.#seal("references", referenceFields(columns), content);
  }

  openReferences(columns: ReferenceColumns, envelope: Uint8Array): Uint8Array | undefined {
    return this.#open("references", referenceFields(columns), envelope)?.content;
  }

  sealHistory(columns: HistoryColumns, content: Uint8Array): Uint8Array {
    return this.#seal("history", historyFields(columns), content);
  }

  openHistory(columns: HistoryColumns, envelope: Uint8Array): Uint8Array | undefined {
    return this.#open("history", historyFields(columns), envelope)?.content;
  }

  sealSnapshotKey(columns: SnapshotColumns, key: Uint8Array): Uint8Array {
    return this.#seal("snapshots", snapshotFields(columns), key);
  }

  openSnapshotKey(columns: SnapshotColumns, envelope: Uint8Array): Uint8Array | undefined {
    return this.#open("snapshots", snapshotFields(columns), envelope)?.content;
  }

  #seal(purpose: Purpose, { texts, blob }: Fields, content: Uint8Array): Uint8Array {
    const keys = this.ring.current;
    const data = associatedData(keys.header, texts, blob, this.ring.storeId ?? NOTHING);
    return sealEnvelope(keys[purpose], keys.header, data, content);
  }

  #open(
    purpose: Purpose,
    { texts, blob }: Fields,
    envelope: Uint8Array,
  ): { readonly version: number; readonly content: Uint8Array } | undefined {
    const header = headerOf(envelope);
    const keys = header && this.#keysOf(header.keyId);
    if (header === undefined || keys === undefined) return undefined;
    const data = this.#dataOf(header.version, keys, { texts, blob });
    const content = data && openEnvelope(keys[purpose], data, envelope);
    return content && { version: header.version, content };
  }

  #dataOf(version: number, keys: SealingKeys, { texts, blob }: Fields): Uint8Array | undefined {
    if (version === ENVELOPE_VERSION) {
      if (this.ring.storeId === undefined) this.#onUnknown(); // the file was migrated meanwhile
      return this.ring.storeId && associatedData(keys.header, texts, blob, this.ring.storeId);
    }
    if (version !== FIRST_ENVELOPE_VERSION || !this.ring.acceptsFirstEnvelope) return undefined;
    return associatedData(keys.firstHeader, texts, blob);
  }

  #keysOf(keyId: string): SealingKeys | undefined {
    const known = this.ring.find(keyId);
    if (known !== undefined) return known;
    this.#onUnknown();
    return this.ring.find(keyId);
  }
}

/** A number is never empty text, so null is encoded as that. */
function entryFields(columns: ClearColumns): Fields {
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
  return { texts, blob: columns.digest };
}

function vectorFields(columns: VectorColumns): Fields {
  const texts = [columns.space, `${columns.dimensions}`, columns.id, columns.namespace];
  return { texts, blob: columns.digest };
}

function referenceFields({ space, dimensions }: ReferenceColumns): Fields {
  return { texts: [space, `${dimensions}`], blob: NOTHING };
}

function historyFields({ number, entryId, writtenAt }: HistoryColumns): Fields {
  return { texts: [`${number}`, entryId, `${writtenAt}`], blob: NOTHING };
}

function snapshotFields({ namespace, name, build, cursor, madeAt }: SnapshotColumns): Fields {
  return { texts: [namespace, name, build, `${cursor}`, `${madeAt}`], blob: NOTHING };
}

const NOTHING = new Uint8Array(0);
