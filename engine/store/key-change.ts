/** What a store says of its keys while they are changed, whatever keeps it. */
import { HelmdeckError } from "../errors.ts";
import { type KeyRing, SealingKeys, type StoredKeys } from "./key-ring.ts";
import type { MasterKey } from "./master-key.ts";

/** What a change of keys did; key ids as people see them. */
export interface KeyChangeReport {
  readonly from: string;
  readonly to: string;
  /** Rows that did not open under any key, and so are as they were. */
  readonly unreadable: number;
  /** `pending`: old bytes lie in the database for a while. */
  readonly erased: "complete" | "pending";
}

/**
 * With `newKey` the one in use, and each of the two sealed under the other; undefined when just that has begun already.
 *
 * @throws `invalid_input` when it is the key in use already, or another change has begun and is not finished.
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
  if (wanted.id === current.id) throw sameKey();
  const storeId = stored.storeId ?? new Uint8Array(0);
  const former = wanted.wrap(current, storeId);
  const change = { formerCheck: current.check, former, current: current.wrap(wanted, storeId) };
  return { check: wanted.check, storeId, change };
}

/** The change to the key in use has begun, and nobody has finished it. */
export function requireChanging({ current }: KeyRing, { check, change }: StoredKeys): void {
  if (change === undefined || !current.matches(check)) throw anotherChange(current.id);
}

/** Only the key in use opens the store from here on. */
export function finishedChange({ current }: KeyRing, { change: _, ...stored }: StoredKeys): StoredKeys {
  if (!current.matches(stored.check)) throw anotherChange(current.id);
  return stored;
}

function anotherChange(key: string): HelmdeckError {
  return new HelmdeckError(
    "invalid_input",
    `A change to the key ${key} has begun and is not finished, or another one has begun since. Finish it with that key first.`,
    { details: { field: "key", key } },
  );
}

function sameKey(): HelmdeckError {
  return new HelmdeckError("invalid_input", "The new key is the one in use already. Make another one.", {
    details: { field: "key" },
  });
}
