/** The state of a change of keys, for any back end. */
import { HelmdeckError } from "../errors.ts";
import { type KeyRing, SealingKeys, type StoredKeys } from "./key-ring.ts";
import type { MasterKey } from "./master-key.ts";
import type { MemoryStore } from "./memory-store.ts";

/** The result of a change of keys, with key ids as shown to people. */
export interface KeyChangeReport {
  readonly from: string;
  readonly to: string;
  /** Rows that no key opens; they are unchanged. */
  readonly unreadable: number;
  /** `pending`: old bytes remain in the database for a while. */
  readonly erased: "complete" | "pending";
}

/** A store whose key can be changed. From the beginning to the end both keys open it. */
export interface KeyChangingStore extends MemoryStore {
  /** Beginning again changes nothing. */
  beginKeyChange(newKey: MasterKey): Promise<void>;
  /** Exchanges key files while no other process can finish this change, nor begin another one. */
  exchangeKeys(exchange: () => void): Promise<void>;
  /** Seals every row under the key in use; can be interrupted at any time, and called again. */
  reseal(options?: ResealOptions): Promise<void>;
  /** Takes the former key out of the store. */
  finishKeyChange(): Promise<KeyChangeReport>;
}

/**
 * Makes `newKey` the current key and seals each key under the other; undefined when this change has already begun.
 *
 * @throws `invalid_input` when it already is the current key, or another change is unfinished.
 */
export function begunChange(
  { current }: KeyRing,
  stored: StoredKeys,
  newKey: MasterKey,
): StoredKeys | undefined {
  const wanted = new SealingKeys(newKey);
  if (stored.change !== undefined) {
    if (wanted.id !== current.id) throw anotherChange(current.id);
    return undefined;
  }
  if (wanted.id === current.id)
    throw new HelmdeckError("invalid_input", "The new key is already in use. Create another one.", {
      details: { field: "key" },
    });
  const storeId = stored.storeId ?? new Uint8Array(0);
  const former = wanted.wrap(current, storeId);
  const change = { formerCheck: current.check, former, current: current.wrap(wanted, storeId) };
  return { check: wanted.check, storeId, change };
}

/** Requires an unfinished change to the current key. */
export function requireChanging({ current }: KeyRing, { check, change }: StoredKeys): void {
  if (change === undefined || !current.matches(check)) throw anotherChange(current.id);
}

/** Afterwards only the current key opens the store. */
export function finishedChange({ current }: KeyRing, { change: _, ...stored }: StoredKeys): StoredKeys {
  if (!current.matches(stored.check)) throw anotherChange(current.id);
  return stored;
}

function anotherChange(key: string): HelmdeckError {
  return new HelmdeckError(
    "invalid_input",
    `The change to the key ${key} is unfinished, or another one has begun since. Finish it with that key first.`,
    { details: { field: "key", key } },
  );
}

/** Options and progress of resealing, for any back end. */
export interface ResealProgress {
  readonly done: number;
  readonly total: number;
}

export interface ResealOptions {
  readonly onProgress?: (progress: ResealProgress) => void;
  readonly signal?: AbortSignal;
}
