/** A store's part in the contract suite: how to open it, a fake clock, and optional operations. */

import type { Quota } from "../../engine/rules/quota.ts";
import type {
  EntryRef,
  MemoryReader,
  MemoryStore,
  NewEntry,
  UnixMs,
} from "../../engine/store/memory-store.ts";
import { type Namespace, namespaceOf } from "../../engine/store/namespace.ts";

/** A fake clock that the test sets. */
export interface Clock {
  now: UnixMs;
}

export interface StoreRig {
  readonly store: MemoryStore;
  readonly clock: Clock;
  /** Closes all open stores and deletes their files. */
  dispose(): Promise<void>;
  /** Opens the same entries again for writing. Present if the store is persistent or shared. */
  openAgain?(): Promise<MemoryStore>;
  /** Opens the same entries read-only. */
  openReader?(): Promise<MemoryReader>;
  /** Damages the stored bytes of one entry without the store. */
  damage?(ref: EntryRef): Promise<void>;
}

export interface RigOptions {
  /** The store's option: for how many writes the change feed remembers a removal. */
  readonly keepRemovals?: number;
  readonly quota?: Partial<Quota>;
  /** The store's option: how many entries one transaction deletes. */
  readonly eraseAtOnce?: number;
}

export type OpenRig = (options?: RigOptions) => Promise<StoreRig>;

/** The fake clock's start: 2026-11-20T00:00:00Z. */
export const START: UnixMs = 1_795_132_800_000;

export const HOUR_MS = 3_600_000;

export const DAY_MS = 24 * HOUR_MS;

/** How long an entry must have been expired before the sweep deletes it. */
export const KEPT_EXPIRED_MS = 24 * HOUR_MS;

/** Lets a process observe that time passes: it looks every five minutes, like a sweeper. */
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

/** Runs a test with a fresh store and always cleans up. */
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

/** An entry to write: by default one of Ana's facts. */
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

/** The keys of all pages of a listing, in order. */
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
