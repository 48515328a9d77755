/** A fact in the form that every use case returns. */
import {
  defined,
  type Entry,
  type Fingerprint,
  type FormerValue,
  fingerprintOf,
  pathOf,
} from "../engine/index.ts";
import type { FactView, FormerView } from "./memory.ts";

/** Requires an entry that is a fact. */
export function factView(entry: Entry): FactView {
  return { ...viewOf(entry, entry.fingerprint), path: pathOf(entry.category, entry.key) };
}

/** A current or former value of a fact. */
export function valueView(held: Omit<FormerValue, "joined">): FormerView {
  return viewOf(held, fingerprintOf(held.value));
}

function viewOf(
  { key, value, category, tags, createdAt, updatedAt, expiresAt, writer }: Omit<FormerValue, "joined">,
  fingerprint: Fingerprint,
): FormerView {
  return {
    ...{ key, value: Buffer.from(value).toString(), category, tags, createdAt, updatedAt },
    ...defined({ expiresAt }),
    fingerprint,
    ...defined({ writer }),
  };
}
