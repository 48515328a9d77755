/**
 * The fields of what is stored, each in one list: copies, histories, rows, moves and views pick by it, so that none drops a field.
 * The compiler refuses a list that misses one.
 */
import type { Entry, EntryMeta, FormerValue, Held, NewEntry } from "./memory-store.ts";
import type { ClearColumns } from "./sealing.ts";
import type { Content } from "./writer.ts";

const HELD: Readonly<Record<keyof Held, true>> = {
  key: true,
  value: true,
  category: true,
  tags: true,
  createdAt: true,
  updatedAt: true,
  expiresAt: true,
  ending: true,
  writer: true,
  conversationId: true,
};
const FORMER: Readonly<Record<keyof FormerValue, true>> = { ...HELD, life: true, into: true, joined: true };
/** What has no column of its own is sealed with the value. */
const SEALED: Readonly<Record<Exclude<keyof NewEntry, keyof ClearColumns | "history">, true>> = {
  value: true,
  writer: true,
  ending: true,
  confirmedAt: true,
  formerEnd: true,
  conversationId: true,
};
const META: Readonly<Record<keyof EntryMeta, true>> = {
  id: true,
  revision: true,
  namespace: true,
  origin: true,
  key: true,
  category: true,
  tags: true,
  createdAt: true,
  updatedAt: true,
  expiresAt: true,
};
const HELD_FIELDS = namesOf(HELD);
const FORMER_FIELDS = namesOf(FORMER);
const SEALED_FIELDS: readonly (keyof Content)[] = namesOf(SEALED);
const META_FIELDS = namesOf(META);

/** What an entry, or a former value, holds; without its identity and its place in a history. */
export function heldOf(from: Held): Held {
  return pick(from, HELD_FIELDS);
}

/** A former value without what a store's row adds. */
export function formerFieldsOf(from: FormerValue): FormerValue {
  return pick(from, FORMER_FIELDS);
}

/** The part of an entry that is sealed. */
export function contentOf(from: Content): Content {
  return pick(from, SEALED_FIELDS);
}

/** The part of an entry that is readable without its key. */
export function metaFieldsOf(from: Entry): EntryMeta {
  return pick<EntryMeta>(from, META_FIELDS);
}

function pick<T extends object>(from: T, fields: readonly (keyof T)[]): T {
  const present = fields.filter((field) => from[field] !== undefined);
  return Object.fromEntries(present.map((field) => [field, from[field]])) as T; // only optional fields are absent
}

/** The clear columns of an entry's row by field, in the order in which they are read, written and moved. */
const COLUMNS: Readonly<Record<keyof ClearColumns, string>> = {
  seq: "seq",
  id: "id",
  namespace: "namespace",
  origin: "origin",
  key: "key",
  category: "category",
  tags: "tags",
  createdAt: "created_at",
  updatedAt: "updated_at",
  expiresAt: "expires_at",
  digest: "digest",
};
const CLEAR_FIELDS = namesOf(COLUMNS);

export const ENTRY_COLUMNS: readonly string[] = [...Object.values(COLUMNS), "sealed"];
export const CLEAR_COLUMNS = Object.values(COLUMNS).join(", ");
export const ALL_COLUMNS = ENTRY_COLUMNS.join(", ");

type Cell = string | number | Uint8Array | null;

/** In the order of {@link ENTRY_COLUMNS}. */
export function cellsOf(columns: ClearColumns, sealed: Uint8Array): readonly Cell[] {
  return [...CLEAR_FIELDS.map((field) => columns[field]), sealed];
}

/** `?, ?, …` */
export function placesFor(columns: readonly string[]): string {
  return columns.map(() => "?").join(", ");
}

function namesOf<Name extends string>(list: Readonly<Record<Name, unknown>>): readonly Name[] {
  return Object.keys(list) as Name[]; // complete by its type
}
