/** What every memory store promises: entries, the `MemoryStore` contract, and its read-only half. */
import type { ConflictRule } from "./conflicts.ts";
import type { Namespace } from "./namespace.ts";
import type { Writer } from "./writer.ts";

declare const fingerprintBrand: unique symbol;
declare const entryIdBrand: unique symbol;

/** Milliseconds since 1970-01-01T00:00:00Z, an integer. */
export type UnixMs = number;

/** First 16 hex digits of sha256 over the plaintext: helmdeck's fingerprint, for the wire and exports, never on disk. */
export type Fingerprint = string & { readonly [fingerprintBrand]: true };

/** `mem_` and 32 lower-case hex digits. */
export type EntryId = string & { readonly [entryIdBrand]: true };

/** Which code path wrote an entry. Set by that path, never by a caller. */
export const ORIGINS = ["fact", "audit", "cache", "pack"] as const;
export type Origin = (typeof ORIGINS)[number];

/** An entry is unique by these three. */
export interface EntryRef {
  readonly namespace: Namespace;
  readonly origin: Origin;
  readonly key: string;
}

/** What a writer hands over. An existing entry with the same ref keeps its id and, unless given here, its createdAt. */
export interface NewEntry extends EntryRef {
  readonly value: Uint8Array;
  readonly category: string;
  readonly tags: readonly string[];
  /** Who writes, as the host vouches for it. */
  readonly writer?: Writer;
  /** Expired when now >= expiresAt; absent = never. */
  readonly expiresAt?: UnixMs;
  /** Only an import sets these two; otherwise they are the time of the write. */
  readonly createdAt?: UnixMs;
  readonly updatedAt?: UnixMs;
  /** Its life is the default one and was prolonged: only a renewal sets it, and a put without it takes it off. */
  readonly prolonged?: true;
  /** Only an import sets it, of a fact; kept unless the fact has a history here. The oldest first. */
  readonly history?: readonly FormerValue[];
}

/** What a fact held before, or another one that it superseded. */
export interface FormerValue {
  /** What it stood under. */
  readonly key: string;
  readonly value: Uint8Array;
  readonly category: string;
  readonly tags: readonly string[];
  readonly createdAt: UnixMs;
  readonly updatedAt: UnixMs;
  /** When it would have ended by itself; from then on it is not shown. */
  readonly expiresAt?: UnixMs;
  readonly writer?: Writer;
  /** Of the superseded fact that it belonged to; absent for the fact itself. */
  readonly life?: string;
  /** The life that was stored over it; absent for the fact's own. */
  readonly into?: string;
  /** The same store left it as left the one before. */
  readonly joined: boolean;
}

/** What a former value is called, and which fact's history it is in. */
export interface FormerKey extends Pick<FormerValue, "key" | "category" | "tags" | "updatedAt"> {
  readonly of: Pick<FormerValue, "key" | "category" | "tags">;
}

export interface FormerKeysQuery {
  readonly namespace: Namespace;
  /** From the page before; opaque. */
  readonly cursor?: string;
}

export interface FormerKeysPage {
  readonly keys: readonly FormerKey[];
  readonly nextCursor?: string;
}

export interface PutManyOptions {
  /** Default `replace`. */
  readonly onConflict?: ConflictRule;
}

export interface PutOptions {
  /** Keys of other facts of the namespace, at most nine, which are retired with this write; those that are not there are passed over. */
  readonly supersedes?: readonly string[];
}

/** The clear columns of an entry, known without decrypting. */
export interface EntryMeta extends EntryRef {
  readonly id: EntryId;
  readonly category: string;
  readonly tags: readonly string[];
  readonly createdAt: UnixMs;
  readonly updatedAt: UnixMs;
  readonly expiresAt?: UnixMs;
}

export interface Entry extends EntryMeta {
  readonly value: Uint8Array;
  readonly fingerprint: Fingerprint;
  /** Who wrote the value; absent when nobody was named, as in rows of 0.1. */
  readonly writer?: Writer;
  readonly prolonged?: true;
}

/** A life that an entry is given, counted from whenever. */
interface Renewal {
  readonly expiresAt: UnixMs;
  readonly prolonged?: true;
}

export interface RenewOptions {
  readonly givesWay?: boolean;
}

/** Asked in the transaction, of what is there at that moment; undefined leaves it as it is. */
export type DecideRenewal = (entry: Entry, now: UnixMs) => Renewal | undefined;

export interface PutResult {
  readonly entry: EntryMeta;
  /** The live entry that stood there before, if any; `sameValue` when only its life was renewed. */
  readonly replaced?: { readonly updatedAt: UnixMs; readonly sameValue: boolean };
  /** Keys of the facts that were retired. */
  readonly superseded: readonly string[];
  /** Nothing was written: what was there stays, as the rule for conflicts says. */
  readonly kept?: true;
}

export interface UndoOptions {
  /** Only while the fact has it. */
  readonly tag?: string;
  /** True: the next delete erases what was taken back, and says whether it is; for many in a row. */
  readonly erasesLater?: boolean;
}

export interface Undone {
  /** What was taken back, and is erased. */
  readonly undone: Entry;
  /** What is there again: the fact as it was before, and those that the undone store superseded. */
  readonly restored: readonly Entry[];
}

/** A row that is there but could not be authenticated or decrypted. It never makes a listing fail. */
export interface UnreadableEntry {
  readonly id: EntryId;
  readonly origin: Origin;
  readonly key: string;
}

/** Which entries of one namespace. `prefix` compares bytes: case matters and there are no wildcards. */
export interface ListQuery {
  readonly namespace: Namespace;
  /** One, or any of several. */
  readonly origin?: Origin | readonly Origin[];
  readonly prefix?: string;
  /** Likewise. */
  readonly category?: string | readonly string[];
  /** Only what has this tag, exactly. */
  readonly tag?: string;
  /** Only what ends before then. */
  readonly expiresBefore?: UnixMs;
  /** 1 to 1,000; default 100. */
  readonly limit?: number;
  /** From the page before; opaque. */
  readonly cursor?: string;
}

/** Newest first by updatedAt, then by id. */
export interface EntryPage {
  readonly entries: readonly Entry[];
  readonly unreadable: readonly UnreadableEntry[];
  readonly nextCursor?: string;
}

export interface MetaPage {
  readonly entries: readonly EntryMeta[];
  readonly nextCursor?: string;
}

/** Which entries to count or delete; every given field must match. Deciding never decrypts. */
export interface EntryFilter {
  readonly namespace: Namespace;
  /** Also the namespaces of every session of this subject. */
  readonly includeSessions?: boolean;
  readonly origins?: readonly Origin[];
  readonly category?: string;
  readonly tag?: string;
  readonly key?: string;
  readonly prefix?: string;
  /** From a page of a listing: only what comes after it, which is older. */
  readonly cursor?: string;
}

/**
 * What is deleted is hidden from every reader at once; the answer comes when its bytes are gone. `pending`: the rows are gone, but old bytes, sealed, may still lie in a log that a reader kept
 * from being folded in, or in a server's files until it clears them away.
 */
export interface Erasure {
  readonly deleted: number;
  readonly erased: "complete" | "pending";
  /** Former values erased from the history of facts that stay; absent for none. */
  readonly former?: number;
}

export interface ChangesQuery {
  readonly namespace: Namespace;
  /** The cursor of the last answer, or a {@link MemoryReader.revision}; 0 for everything. */
  readonly since: number;
  /** At most this many rows are read; 1 to 10,000, default 1,000. */
  readonly limit?: number;
}

/**
 * What happened in a namespace since a cursor, oldest first. `start_over`: history before this cursor was pruned (or the
 * file was exchanged), so drop everything and ask from 0. `more`: ask again from `cursor` at once.
 */
export type Changes =
  | {
      readonly kind: "changes";
      readonly upserts: readonly Entry[];
      readonly removed: readonly EntryId[];
      readonly unreadable: readonly UnreadableEntry[];
      readonly cursor: number;
      readonly more: boolean;
    }
  | { readonly kind: "start_over" };

export interface NamespaceCount {
  readonly namespace: Namespace;
  readonly count: number;
}

export interface Usage {
  readonly entries: number;
  /** Of values, sealed where the store seals. */
  readonly bytes: number;
}

export interface CategoryCount {
  readonly origin: Origin;
  readonly category: string;
  readonly count: number;
}

/** What doctor shows of a store. `unreadable` counts rows that do not open under the key at hand. */
export interface StoreReport {
  readonly backend: string;
  readonly schemaVersion: number;
  readonly entries: number;
  /** False where the file or its folder cannot be written. */
  readonly isWritable: boolean;
  /** Hidden, and not deleted yet. */
  readonly expired: number;
  /** How far the system's clock is behind what it cannot be behind; 0 when it may be right. */
  readonly clockBehindMs: number;
  readonly unreadable: number;
  /** `unchecked`: it would take long, in one piece, and nobody said that this process may. */
  readonly integrity: "ok" | "damaged" | "unchecked";
  /** What the keys in use call themselves: the one that seals, and while it is being changed, the one before it. */
  readonly keys?: { readonly current: string; readonly former?: string };
  /** Back-end settings worth showing, such as journal mode and synchronous. */
  readonly settings: Readonly<Record<string, string | number>>;
}

export interface InspectOptions {
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
  /** This process serves nobody else, so it may be busy for as long as the check of a large file takes. */
  readonly mayBlock?: boolean;
}

export interface StoreCapabilities {
  /** Entries outlive the process. */
  readonly persistent: boolean;
  /** Several processes may have the store open at once. */
  readonly shared: boolean;
}

/** One line of a store's history. */
export interface StoreIdentity {
  /** 32 hexadecimal digits. */
  readonly storeId: string;
  /** How often a backup was put in the store's place, and one. */
  readonly generation: number;
}

/** The half that reads. Expired entries are absent from every answer. */
export interface MemoryReader {
  readonly capabilities: StoreCapabilities;
  /** As it was when the store was opened; undefined in one that does not outlive the process, and in a file of 0.1. */
  readonly identity: StoreIdentity | undefined;
  /**
   * The time by which this store judges what has expired, and from which lives are counted: the system's clock, unless that is
   * certainly wrong.
   */
  now(): UnixMs;
  /** Throws `entry_unreadable` when the row is there but does not open. */
  get(ref: EntryRef): Promise<Entry | undefined>;
  list(query: ListQuery): Promise<EntryPage>;
  /** Like list, without decrypting. */
  listMeta(query: ListQuery): Promise<MetaPage>;
  /** What a fact held before, newest first; nothing of what is not there. */
  history(ref: EntryRef): Promise<readonly FormerValue[]>;
  /** What the histories of a namespace's facts hold, without values, in no order. */
  formerKeys(query: FormerKeysQuery): Promise<FormerKeysPage>;
  countWhere(filter: EntryFilter): Promise<number>;
  changes(query: ChangesQuery): Promise<Changes>;
  /**
   * A number that grows with every write, deletion and sweep in the namespace, whichever process did it; equal numbers
   * mean that nothing was changed in between. It may also grow for no reason, as when old history is pruned. As `since` of
   * {@link changes} it gives what happened after it, or `start_over`. Reads no row.
   */
  revision(namespace: Namespace): Promise<number>;
  namespaces(): Promise<readonly NamespaceCount[]>;
  /** How much a subject keeps, its sessions, caches and former values with it; reads no row. */
  usage(namespace: Namespace): Promise<Usage>;
  /** What one namespace holds, by origin and then category. Never decrypts. */
  categories(namespace: Namespace): Promise<readonly CategoryCount[]>;
  /**
   * What is kept of this space: the last that was put. Undefined when there is nothing, or nothing that authenticates, and
   * in a store that an older program made.
   */
  referenceVectors(space: string): Promise<ReferenceVectors | undefined>;
  /** Opens every row: slow on large stores, for doctor. Other calls are answered meanwhile. */
  inspect(options?: InspectOptions): Promise<StoreReport>;
  /** Idempotent. Every other call after it throws `store_unavailable`. */
  close(): Promise<void>;
}

/** What an embedding model made of one entry's value: some vectors of equal length, end to end, in the caller's order. */
export interface EntryVectors {
  readonly id: EntryId;
  /** Of the value that was embedded. */
  readonly fingerprint: Fingerprint;
  readonly dimensions: number;
  readonly vectors: Float32Array;
}

/** What an embedding model made of the program's own reference texts, of which nothing is anybody's. */
export interface ReferenceVectors {
  /** Of the texts, by which it is known whether they are still the same. */
  readonly fingerprint: Fingerprint;
  readonly dimensions: number;
  /** Some vectors of equal length, end to end, in the caller's order. */
  readonly vectors: Float32Array;
}

/**
 * Vectors beside the entries they were made of. They vanish with the entry, and with the value: whatever deletes or
 * replaces it deletes them in the same transaction. Writing the same value again keeps them.
 *
 * A space is a name for all that makes vectors comparable (model, prefixes); there may be several of one entry.
 */
export interface VectorStore {
  /** Names of the spaces that vectors are kept of, of whatever namespace. */
  vectorSpaces(): Promise<readonly string[]>;
  /** Of these entries' present values, in no order. What does not authenticate is left out, never fatal. */
  vectors(query: VectorsQuery): Promise<readonly EntryVectors[]>;
  /**
   * Keeps them all in one transaction, but for those whose entry is gone, expired, of another namespace or of another
   * value by now; answers which were kept. Gives way: `store_locked` soon when another writer is at work.
   */
  putVectors(
    namespace: Namespace,
    space: string,
    batch: readonly EntryVectors[],
  ): Promise<readonly EntryId[]>;
  /** Deletes what these entries have in other spaces; gives way as `putVectors` does. */
  deleteOtherVectors(query: VectorsQuery): Promise<void>;
  /** Keeps them in place of the former ones; of the last four spaces. Gives way as `putVectors` does. */
  putReferenceVectors(space: string, made: ReferenceVectors): Promise<void>;
}

export interface VectorsQuery {
  readonly namespace: Namespace;
  readonly space: string;
  /** At most 1,000. */
  readonly ids: readonly EntryId[];
}

/** The whole store. A write has reached stable storage when its promise resolves. */
export interface MemoryStore extends MemoryReader, VectorStore {
  /** A fact's value that is replaced, or superseded, goes into the history of the one that was written. */
  put(entry: NewEntry, options?: PutOptions): Promise<PutResult>;
  /** All or none, in one transaction; results in the order given. */
  putMany(entries: readonly NewEntry[], options?: PutManyOptions): Promise<readonly PutResult[]>;
  /**
   * Gives a living entry another life and changes nothing else of it, its times and its history included. Answers it as it is
   * afterwards; undefined when it is not there or does not open. Told to give way: `store_locked` soon when another writer is at
   * work.
   */
  renew(ref: EntryRef, decide: DecideRenewal, options?: RenewOptions): Promise<Entry | undefined>;
  /**
   * Takes back the last store that changed a fact's value or superseded others, whole; the next one takes back the store before.
   * Undefined when the fact is not there or nothing is known of what was before. Throws `invalid_input` when a superseded key is in
   * use again.
   */
  undo(ref: EntryRef, options?: UndoOptions): Promise<Undone | undefined>;
  /** With its history, and with what other facts' histories hold of it. */
  delete(ref: EntryRef): Promise<Erasure>;
  /** As `delete`: what a filter covers, is, and was. */
  deleteWhere(filter: EntryFilter): Promise<Erasure>;
  /**
   * Deletes what has been expired for 24 hours of the time that was observed while processes ran, in every namespace: a wrong
   * clock hides, and deletes nothing. An entry that does not authenticate is left: its expiry may be anybody's.
   */
  deleteExpired(): Promise<Erasure>;
}
