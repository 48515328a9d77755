/** What a store brings to the contract suite: how to open it, a clock to turn, and what else can be done to it. */
import type { EntryRef, MemoryReader, MemoryStore, NewEntry, Quota, UnixMs } from "../../engine/index.ts";
import { type Namespace, namespaceOf } from "../../engine/index.ts";

/** A fake clock, turned by the test. */
export interface Clock {
  now: UnixMs;
}

export interface StoreRig {
  readonly store: MemoryStore;
  readonly clock: Clock;
  /** Closes everything opened and removes what was made. */
  dispose(): Promise<void>;
  /** Opens the same entries once more, to write. Given when the store is persistent or shared. */
  openAgain?(): Promise<MemoryStore>;
  /** Opens the same entries read-only. */
  openReader?(): Promise<MemoryReader>;
  /** Spoils the stored bytes of one entry behind the store's back. */
  damage?(ref: EntryRef): Promise<void>;
}

export interface RigOptions {
  /** As the store's own option: how many writes back the change feed remembers removals. */
  readonly keepRemovals?: number;
  readonly quota?: Partial<Quota>;
  /** As the store's own option: how many entries a delete takes in one transaction. */
  readonly eraseAtOnce?: number;
}

export type OpenRig = (options?: RigOptions) => Promise<StoreRig>;

/** Where the fake clock starts: 2026-11-20T00:00:00Z. */
export const START: UnixMs = 1_795_132_800_000;

export const HOUR_MS = 3_600_000;

export const DAY_MS = 24 * HOUR_MS;

/** For how long an entry has been expired when the sweep takes it. */
export const KEPT_EXPIRED_MS = 24 * HOUR_MS;

/** Time that a process sees pass: it looks every five minutes, as a sweeper does. */
export async function letPass(
  store: Pick<MemoryStore, "deleteExpired">,
  clock: Clock,
  milliseconds: number,
): Promise<void> {
  const until = clock.now + milliseconds;
  while (clock.now < until) {
    clock.now = Math.min(until, clock.now + 5 * 60_000);
    await store.deleteExpired();
  }
}

export const ANA: Namespace = namespaceOf("ana");
export const BEN: Namespace = namespaceOf("ben");

/** Runs a test against a fresh store and cleans up, whatever happens. */
export function withRig(open: OpenRig, test: (rig: StoreRig) => Promise<void>, options?: RigOptions) {
  return async (): Promise<void> => {
    const rig = await open(options);
    try {
      await test(rig);
    } finally {
      await rig.dispose();
    }
  };
}

/** An entry to write: a fact of Ana's, unless told otherwise. */
export function fact(key: string, value: string, more: Partial<NewEntry> = {}): NewEntry {
  return {
    namespace: ANA,
    origin: "fact",
    key,
    value: bytes(value),
    category: "user_facts",
    tags: [],
    ...more,
  };
}

export function refTo(key: string, more: Partial<EntryRef> = {}): EntryRef {
  return { namespace: ANA, origin: "fact", key, ...more };
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function text(value: Uint8Array | undefined): string | undefined {
  return value === undefined ? undefined : new TextDecoder().decode(value);
}

/** The keys of every page of a listing, in order. */
export async function allKeys(
  store: MemoryReader,
  query: Partial<Parameters<MemoryReader["list"]>[0]> = {},
): Promise<readonly string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ namespace: ANA, ...query, ...(cursor === undefined ? {} : { cursor }) });
    keys.push(...page.entries.map((entry) => entry.key));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return keys;
}
