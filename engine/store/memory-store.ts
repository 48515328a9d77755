/** The contract of every memory store: entries, `MemoryStore`, and its read-only part `MemoryReader`. */
import type { Namespace, Subject } from "./namespace.ts";
import type { Ending, FormerEnd, Writer } from "./writer.ts";

declare const fingerprintBrand: unique symbol;
declare const entryIdBrand: unique symbol;

/** Milliseconds since 1970-01-01T00:00:00Z, an integer. */
export type UnixMs = number;

/** First 16 hex digits of sha256 over the plaintext: helmdeck's fingerprint, for the wire and exports, never on disk. */
export type Fingerprint = string & { readonly [fingerprintBrand]: true };

/** `mem_` and 32 lower-case hex digits. */
export type EntryId = string & { readonly [entryIdBrand]: true };

/** The code path that wrote an entry. Set by that path, never by a caller. */
export const ORIGINS = ["fact", "audit", "cache", "pack"] as const;
export type Origin = (typeof ORIGINS)[number];

/** These three identify an entry. */
export interface EntryRef {
  readonly namespace: Namespace;
  readonly origin: Origin;
  readonly key: string;
}

/** Input of a write. An existing entry with the same ref keeps its id and, unless given here, its createdAt. */
export interface NewEntry extends EntryRef, Omit<Held, "createdAt" | "updatedAt"> {
  /** Set only by imports; otherwise the time of the write. */
  readonly createdAt?: UnixMs;
  readonly updatedAt?: UnixMs;
  /** When a person last said that the fact stays. Set only by a renewal; a put without it clears it. */
  readonly confirmedAt?: UnixMs;
  /** The end and category before a change of many facts, for its undo. Set only by that; any other end clears it. */
  readonly formerEnd?: FormerEnd;
  /** For facts, set only by imports; ignored when the fact already has a history. Oldest first. */
  readonly history?: readonly FormerValue[];
}

/** What is stored under a key, now or formerly. Copy it with `heldOf`, which knows every field. */
export interface Held {
  readonly key: string;
  readonly value: Uint8Array;
  readonly category: string;
  readonly tags: readonly string[];
  readonly createdAt: UnixMs;
  readonly updatedAt: UnixMs;
  /** Expired when now >= expiresAt; absent = never. A former value is not shown from then on. */
  readonly expiresAt?: UnixMs;
  /** Whether somebody chose that end; absent when unknown, as in rows of 0.3. */
  readonly ending?: Ending;
  /** As vouched for by the host; absent when unknown, as in rows of 0.1. */
  readonly writer?: Writer;
  /** It is a turn of this conversation. Nothing else says so, neither key nor tag. */
  readonly conversationId?: string;
}

/** A former value of a fact, or of a fact that it superseded. */
export interface FormerValue extends Held {
  /** The superseded fact that it belonged to; absent for the fact itself. */
  readonly life?: string;
  /** The life that replaced it; absent for the fact's own. */
  readonly into?: string;
  /** Replaced by the same store as the previous one. */
  readonly joined: boolean;
}

/** The metadata of a former value, and the fact of its history. */
export interface FormerKey extends Pick<FormerValue, "key" | "category" | "tags" | "updatedAt"> {
  readonly of: Pick<FormerValue, "key" | "category" | "tags"> & Pick<EntryMeta, "revision">;
}

export interface FormerKeysQuery {
  readonly namespace: Namespace;
  /** From the previous page; opaque. */
  readonly cursor?: string;
}

export interface FormerKeysPage {
  readonly keys: readonly FormerKey[];
  readonly nextCursor?: string;
}

/**
 * A change number: a store numbers its writes, and each entry has the number of its last one. Numbers of one subject's memory grow
 * with time, sessions included.
 */
export type Revision = number;

/** A condition on one entry, judged in the write's own transaction. If it does not hold, the write throws `changed_meanwhile`. */
interface WriteCondition {
  /** Only while the entry has this revision; 0: only while there is none that is live and opens. */
  readonly ifRevision?: Revision;
}

/** Judges the keys that were written since a check of all keys. */
export interface KeysSince {
  readonly revision: Revision;
  /** Called in the transaction, with the keys of live facts that were written later; throws to refuse the write. */
  readonly judge: (keys: readonly string[]) => void;
}

/** What happens when an imported entry exists. `newer`: the later write wins; of equally new ones, the one that lives longer. */
export const CONFLICT_RULES = ["newer", "keep", "replace"] as const;
export type ConflictRule = (typeof CONFLICT_RULES)[number];

export interface PutManyOptions {
  /** Default `replace`. */
  readonly onConflict?: ConflictRule;
  /** Called in the transaction, with a live entry that is there: true keeps it. */
  readonly keeps?: (there: EntryMeta) => boolean;
  /** One for each namespace to check. */
  readonly keysSince?: ReadonlyMap<Namespace, KeysSince>;
}

/** Called in the transaction, with the live entry as it is then: returns the fields that a write did not name. */
export type FillIn = (
  there: Entry | undefined,
  now: UnixMs,
) => Partial<Pick<NewEntry, "category" | "tags" | "expiresAt" | "ending">>;

export interface PutOptions extends WriteCondition {
  /** Keys of other facts of the namespace to supersede with this write, at most nine; missing ones are ignored. */
  readonly supersedes?: readonly string[];
  /** A superseded fact that was written later throws `changed_meanwhile`. */
  readonly upTo?: Revision;
  readonly keysSince?: KeysSince;
  readonly fillIn?: FillIn;
}

/** An entry's unencrypted columns, read without decrypting. */
export interface EntryMeta extends EntryRef {
  readonly id: EntryId;
  readonly revision: Revision;
  readonly category: string;
  readonly tags: readonly string[];
  readonly createdAt: UnixMs;
  readonly updatedAt: UnixMs;
  readonly expiresAt?: UnixMs;
}

export interface Entry extends EntryMeta, Held {
  readonly fingerprint: Fingerprint;
  readonly confirmedAt?: UnixMs;
  readonly formerEnd?: FormerEnd;
}

/** A new expiry, from any starting point; another category; other tags. What is absent stays. */
interface Renewal {
  readonly category?: string;
  readonly expiresAt?: UnixMs;
  readonly ending?: Ending;
  readonly confirmedAt?: UnixMs;
  readonly formerEnd?: FormerEnd;
  /** With marks, which a put cannot set. */
  readonly tags?: readonly string[];
}

export interface RenewOptions extends WriteCondition {
  readonly givesWay?: boolean;
  /** A tag: the decision is given the namespace's other live entries of the same origin with it that open. */
  readonly besideTag?: string;
}

/**
 * Called in the transaction, with the entry as it is then, and with those of {@link RenewOptions.besideTag}; undefined changes
 * nothing. Throws to refuse the change.
 */
export type DecideRenewal = (entry: Entry, now: UnixMs, beside?: readonly Entry[]) => Renewal | undefined;

export interface PutResult {
  readonly entry: EntryMeta;
  /** The live entry that was replaced, if any; `sameValue` when only its life was renewed. */
  readonly replaced?: Pick<Entry, "updatedAt" | "writer"> & { readonly sameValue: boolean };
  /** Keys of the superseded facts. */
  readonly superseded: readonly string[];
  /** Nothing was written: the conflict rule kept the existing entry. */
  readonly kept?: true;
}

export interface UndoOptions extends WriteCondition {
  /**
   * Undo only while the fact has this tag, and to the last value without it; former values with it go, too. A superseded key that is
   * in use again stays as it is.
   */
  readonly tag?: string;
  /** True: the undone value is erased by the next delete, which reports it. For many undos in a row. */
  readonly erasesLater?: boolean;
}

export interface Undone {
  /** The undone value, which is erased. */
  readonly undone: Entry;
  /** The restored entries: the fact's earlier value, and the facts that the undone store had superseded. */
  readonly restored: readonly Entry[];
}

/** A row that could not be authenticated or decrypted. It never makes a listing fail. */
export interface UnreadableEntry {
  readonly id: EntryId;
  readonly origin: Origin;
  readonly key: string;
}

/** Selects entries of one namespace. `prefix` compares bytes: case-sensitive, without wildcards. */
export interface ListQuery {
  readonly namespace: Namespace;
  /** One origin, or any of several. */
  readonly origin?: Origin | readonly Origin[];
  readonly prefix?: string;
  /** Likewise. */
  readonly category?: string | readonly string[];
  /** Only entries with exactly this tag. */
  readonly tag?: string;
  /** Only entries that expire before then. */
  readonly expiresBefore?: UnixMs;
  /** 1 to 1,000; default 100. */
  readonly limit?: number;
  /** From the previous page; opaque. */
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

/** Selects entries to count or delete; every given field must match. Never decrypts. */
export interface EntryFilter {
  readonly namespace: Namespace;
  /** Also the namespaces of every session of this subject. */
  readonly includeSessions?: boolean;
  readonly origins?: readonly Origin[];
  readonly category?: string;
  readonly tag?: string;
  readonly key?: string;
  readonly prefix?: string;
  /** From a page of a listing: only entries after it, which are older. */
  readonly cursor?: string;
  /** Only entries that were not written later, and former values in facts that were not: what somebody was shown. */
  readonly upTo?: Revision;
}

export type DeleteOptions = Pick<EntryFilter, "upTo">;

/**
 * The result of a delete. Readers no longer see deleted rows at once; the promise resolves when their bytes are erased.
 * `pending`: sealed old bytes may remain in a log that a reader kept from being checkpointed, or in a server's files until it
 * cleans them up.
 */
export interface Erasure {
  readonly deleted: number;
  readonly erased: "complete" | "pending";
  /** Former values erased from the histories of remaining facts; absent when there were none. */
  readonly former?: number;
  /** What the filter covers but for its `upTo`, and stays; absent when there is none. */
  readonly newer?: Newer;
}

/** Entries that were written after what somebody was shown, and facts with covered former values that were. */
export interface Newer {
  readonly count: number;
  /** At most ten. */
  readonly keys: readonly string[];
}

export interface ChangesQuery {
  readonly namespace: Namespace;
  /** The cursor of the last answer, or a {@link MemoryReader.revision}; 0 for everything. */
  readonly since: number;
  /** The most rows to read; 1 to 10,000, default 1,000. */
  readonly limit?: number;
}

/**
 * The changes in a namespace since a cursor, oldest first. `start_over`: history before this cursor was pruned (or the file was
 * replaced), so drop everything and ask again from 0. `more`: ask again from `cursor` at once.
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
  /** Size of the values; sealed, if the store seals. */
  readonly bytes: number;
}

export interface SubjectUsage extends Usage {
  readonly namespace: Namespace;
}

/** What a subject may store, former values included. */
export interface Quota extends Usage {
  /** What single subjects may store instead. Asked for each write, since an operator may change it. */
  readonly own?: () => ReadonlyMap<Subject, Partial<Usage>>;
}

/** What an open store knows of itself without asking its database. */
export interface StoreGauges {
  readonly quota: Quota;
  /** A change of keys is unfinished: two keys open the store. */
  readonly isKeyChanging: boolean;
  /** Of a database server. */
  readonly connections?: ConnectionCounts;
  /** How often a store that waits for its database was lost. */
  readonly losses?: number;
  /** A write found no room on the disk, and none has since. */
  readonly isFull?: boolean;
}

export interface ConnectionCounts {
  readonly open: number;
  readonly inUse: number;
  /** Calls that wait for a connection. */
  readonly waiting: number;
  readonly most: number;
  /** Since the store was opened. */
  readonly everOpened: number;
}

/** Facts that ended in a month of UTC, such as `2026-11`. */
export interface EndedMonth {
  readonly month: string;
  readonly facts: number;
}

export interface CategoryCount {
  readonly origin: Origin;
  readonly category: string;
  readonly count: number;
}

/** The store's state, for doctor. `unreadable` counts rows that do not open with the configured key. */
export interface StoreReport {
  readonly backend: string;
  readonly schemaVersion: number;
  readonly entries: number;
  /** False when the file or its folder is read-only. */
  readonly isWritable: boolean;
  /** Hidden but not deleted yet. */
  readonly expired: number;
  /** By how much the system's clock is certainly behind; 0 when it may be right. */
  readonly clockBehindMs: number;
  readonly unreadable: number;
  /** `unchecked`: the check would block for long, and `mayBlock` was not set. */
  readonly integrity: "ok" | "damaged" | "unchecked";
  /** The ids of the current key and, during a change of keys, the former one. */
  readonly keys?: { readonly current: string; readonly former?: string };
  /** Notable back-end settings, such as journal mode and synchronous. */
  readonly settings: Readonly<Record<string, string | number>>;
}

export interface InspectOptions {
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
  /** This process serves nobody else, so it may block while a large file is checked. */
  readonly mayBlock?: boolean;
}

export interface StoreCapabilities {
  /** Entries survive the process. */
  readonly persistent: boolean;
  /** Several processes can open the store at once. */
  readonly shared: boolean;
}

/** Identifies one line of a store's history. */
export interface StoreIdentity {
  /** 32 hexadecimal digits. */
  readonly storeId: string;
  /** One more than the number of times a backup replaced the store. */
  readonly generation: number;
}

/** A store's metadata, read without changing anything. */
export interface StoreFacts {
  /** 32 hexadecimal digits; absent in a file of an older schema. */
  readonly storeId?: string;
  /** One more than the number of times a backup replaced the store. */
  readonly generation: number;
  readonly schemaVersion: number;
  readonly entries: number;
  /** The ids of the current key and, during a change of keys, the former one. Present only for a caller with one of these keys. */
  readonly keys?: { readonly current: string; readonly former?: string };
}

/** The read-only part. Expired entries are absent from every answer. */
export interface MemoryReader {
  readonly capabilities: StoreCapabilities;
  /** As of opening; undefined for a store that does not survive the process, and for a file of 0.1. */
  readonly identity: StoreIdentity | undefined;
  /** The store's time, for expiry and lifetimes: the system's clock, unless that is certainly wrong. */
  now(): UnixMs;
  /** Throws `entry_unreadable` when the row exists but does not open. */
  get(ref: EntryRef): Promise<Entry | undefined>;
  list(query: ListQuery): Promise<EntryPage>;
  /** Like list, without decrypting. */
  listMeta(query: ListQuery): Promise<MetaPage>;
  /** A fact's former values, newest first; empty when the fact does not exist. */
  history(ref: EntryRef): Promise<readonly FormerValue[]>;
  /** The former values of a namespace's facts without their values, in no particular order. */
  formerKeys(query: FormerKeysQuery): Promise<FormerKeysPage>;
  countWhere(filter: EntryFilter): Promise<number>;
  changes(query: ChangesQuery): Promise<Changes>;
  /**
   * A number that grows with every write, deletion and sweep in the namespace, by any process; equal numbers mean that nothing
   * changed in between. It may also grow without a change, for example when old history is pruned. As `since` of {@link changes}
   * it returns what happened after it, or `start_over`. Reads no row.
   *
   * With sessions, only as a bound: no present entry of the subject has a greater number, and every later write gets one.
   */
  revision(namespace: Namespace, options?: Pick<EntryFilter, "includeSessions">): Promise<Revision>;
  namespaces(): Promise<readonly NamespaceCount[]>;
  /** How much a subject stores, including sessions, caches and former values; reads no row. */
  usage(namespace: Namespace): Promise<Usage>;
  /** The usage of the subjects after this one, in the order of their namespaces' bytes, if they have entries. */
  subjects(after: Namespace | undefined, limit: number): Promise<readonly SubjectUsage[]>;
  /** How many facts of a subject ended by themselves within a year, by month: deleted by a sweep, or only hidden yet. */
  ended(namespace: Namespace): Promise<readonly EndedMonth[]>;
  /** Counts of one namespace, by origin and category. Never decrypts. */
  categories(namespace: Namespace): Promise<readonly CategoryCount[]>;
  /**
   * The latest stored reference vectors of this space. Undefined when there are none or they do not authenticate, and in a store
   * of an older version.
   */
  referenceVectors(space: string): Promise<ReferenceVectors | undefined>;
  /** Opens every row, which is slow on large stores; for doctor. Other calls are answered meanwhile. */
  inspect(options?: InspectOptions): Promise<StoreReport>;
  /** Idempotent. Every later call throws `store_unavailable`. */
  close(): Promise<void>;
}

/** An embedding model's vectors for one entry's value: vectors of equal length, concatenated in the caller's order. */
export interface EntryVectors {
  readonly id: EntryId;
  /** Of the embedded value. */
  readonly fingerprint: Fingerprint;
  readonly dimensions: number;
  readonly vectors: Float32Array;
}

/** An embedding model's vectors for the program's own reference texts, which hold no user data. */
export interface ReferenceVectors {
  /** Of the texts; tells whether they are still the same. */
  readonly fingerprint: Fingerprint;
  readonly dimensions: number;
  /** Vectors of equal length, concatenated in the caller's order. */
  readonly vectors: Float32Array;
}

/**
 * Stores vectors of entries. They are deleted with their entry or its value, in the same transaction. Writing the same value
 * again keeps them.
 *
 * A space names everything that makes vectors comparable (model, prefixes); an entry may have vectors in several.
 */
export interface VectorStore {
  /** The names of all spaces with stored vectors, in any namespace. */
  vectorSpaces(): Promise<readonly string[]>;
  /** Vectors of these entries' current values, in no particular order. Unauthenticated ones are left out. */
  vectors(query: VectorsQuery): Promise<readonly EntryVectors[]>;
  /**
   * Stores all in one transaction, except for entries that are gone, expired, in another namespace or with another value; returns
   * the stored ids. Yields to others: throws `store_locked` soon when another writer is active.
   */
  putVectors(
    namespace: Namespace,
    space: string,
    batch: readonly EntryVectors[],
  ): Promise<readonly EntryId[]>;
  /** Deletes these entries' vectors in other spaces; yields like `putVectors`. */
  deleteOtherVectors(query: VectorsQuery): Promise<void>;
  /** Replaces the stored ones; the last four spaces are kept. Yields like `putVectors`. */
  putReferenceVectors(space: string, made: ReferenceVectors): Promise<void>;
}

export interface VectorsQuery {
  readonly namespace: Namespace;
  readonly space: string;
  /** At most 1,000. */
  readonly ids: readonly EntryId[];
}

/** What an index was made of, and by which program. */
export interface SnapshotFacts {
  /** Another build makes another index of the same entries, or cannot read this one. */
  readonly build: string;
  /** Of the change feed: how far it was read. */
  readonly cursor: number;
}

/**
 * Keeps a copy of each namespace's search index on disk, encrypted. A copy opens for nobody any more from the transaction on that
 * removes or replaces a value of the namespace.
 */
export interface IndexSnapshots {
  /**
   * The parts of the copy in the order of saving, and how far it had read. Undefined when there is none of this build, or when its
   * row does not authenticate. No part may be used before the last one has come: reading throws when the copy is damaged.
   */
  load(
    namespace: Namespace,
    build: string,
  ): Promise<{ readonly cursor: number; readonly parts: AsyncIterable<Uint8Array> } | undefined>;
  /** Whether there is a copy of this build, in a file of the right size or not. */
  has(namespace: Namespace, build: string): Promise<boolean>;
  /**
   * Replaces the copy. False when the namespace has changed since the cursor, so that nothing was kept. Yields to other writers:
   * throws `store_locked` soon when one is active. Throws what `parts` throws.
   */
  save(namespace: Namespace, facts: SnapshotFacts, parts: Iterable<Uint8Array>): Promise<boolean>;
}

/** The whole store. A write is on stable storage when its promise resolves. */
export interface MemoryStore extends MemoryReader, VectorStore {
  readonly gauges: StoreGauges;
  /** Absent: every index is built from rows. */
  readonly snapshots?: IndexSnapshots | undefined;
  /** A replaced or superseded value of a fact moves into the written fact's history. The fact keeps its marks, and gets no others. */
  put(entry: NewEntry, options?: PutOptions): Promise<PutResult>;
  /** All or none, in one transaction; results in the given order. */
  putMany(entries: readonly NewEntry[], options?: PutManyOptions): Promise<readonly PutResult[]>;
  /**
   * Changes a live entry's expiry, category or tags, and nothing else, neither times nor history. Returns the changed entry; undefined when it
   * is missing or does not open. Yields if requested: throws `store_locked` soon when another writer is active.
   */
  renew(ref: EntryRef, decide: DecideRenewal, options?: RenewOptions): Promise<Entry | undefined>;
  /** The same for several entries of one namespace, in one transaction; undefined also where nothing was to be changed. */
  renewMany(refs: readonly EntryRef[], decide: DecideRenewal): Promise<readonly (Entry | undefined)[]>;
  /**
   * Undoes the last store that changed a fact's value or superseded others; the next call undoes the one before. Undefined when
   * the fact is missing or has no history. Throws `invalid_input` when a superseded key is in use again.
   */
  undo(ref: EntryRef, options?: UndoOptions): Promise<Undone | undefined>;
  /** Also deletes its history, and its values in other facts' histories. */
  delete(ref: EntryRef, options?: DeleteOptions): Promise<Erasure>;
  /**
   * Like `delete`, for everything that a filter covers, including former values. Throws `changed_meanwhile` for an `upTo` that the
   * store has not reached: another one was shown.
   */
  deleteWhere(filter: EntryFilter): Promise<Erasure>;
  /**
   * Deletes entries in every namespace that have been expired for 24 hours of observed running time: a wrong clock only hides
   * entries. An unauthenticated entry is kept, since its expiry may be forged. The same transaction counts facts for `ended`.
   */
  deleteExpired(): Promise<Erasure>;
}
