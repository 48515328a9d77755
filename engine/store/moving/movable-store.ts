/**
 * A store during a move, which nobody else has open: its raw rows and its metadata.
 *
 * The danger is an accident: one memory in two places would diverge, and a partial one would be taken for complete. So only one
 * place can be open at a time. The target is marked before its first row, and the source before the target is opened; both marks
 * keep every program out, and an interrupted move resumes where it stopped.
 */
import { HelmdeckError } from "../../errors.ts";
import { ENTRY_COLUMNS } from "../fields.ts";
import type { StoredKeys } from "../key-ring.ts";
import type { UnixMs } from "../memory-store.ts";

/** Why a store cannot be opened: its memory was moved away, or is still incomplete. */
export interface MoveMark {
  readonly kind: "away" | "incoming";
  /** The other place as a person would name it; without a password. */
  readonly place: string;
  readonly at: UnixMs;
}

/** A store's metadata. */
export interface StoreHead {
  /** 32 hexadecimal digits. */
  readonly storeId: string;
  readonly generation: number;
  readonly keys: StoredKeys;
  /** No change has a higher number. */
  readonly newestSeq: number;
  readonly timeSeen?: string;
  readonly mark?: MoveMark;
}

export interface Page {
  /** Only rows after this position. */
  readonly after: Cells | undefined;
  readonly limit: number;
}

export interface Replacing {
  readonly remove: readonly Cells[];
  readonly insert: readonly Cells[];
}

export interface MovableStore {
  /** For people: a path, or a database and its host. */
  readonly name: string;
  /** Undefined when there is no store yet. */
  head(): Promise<StoreHead | undefined>;
  count(table: TableName): Promise<number>;
  /** In the order of their positions. */
  read(table: TableShape, page: Page): Promise<readonly Cells[]>;
  /** Complete rows, in one transaction. */
  replace(table: TableShape, rows: Replacing): Promise<void>;
  /** Starts to receive the rows of the store with this head, under this mark. */
  begin(head: StoreHead, mark: MoveMark): Promise<void>;
  /** All rows are present: sequence numbers continue after the highest, readers start over, and the store can be opened. */
  finish(head: StoreHead): Promise<void>;
  /** Keeps every program from opening it. */
  markAway(mark: MoveMark): Promise<void>;
  /** Removes the mark; readers start over. */
  reopen(generation: number): Promise<void>;
  close(): Promise<void>;
}

/** The error for opening a store with this mark. */
export function movedError(name: string, { kind, place, at }: MoveMark): HelmdeckError {
  const day = new Date(at).toISOString().slice(0, 10);
  const says =
    kind === "away"
      ? `was moved to ${place} on ${day} and accepts no more writes. Use the memory there (helmdeck-memory serve --store), ` +
        "or bring it back with helmdeck-memory move --from. If that place is lost, run helmdeck-memory move --reopen"
      : `is incomplete: a move from ${place} began on ${day}. Wait while it runs; if it was interrupted, run the same helmdeck-memory move command again`;
  return new HelmdeckError("store_moved", `The memory database ${name} ${says}.`, {
    details: { place, moved: kind },
  });
}

export type Cell = string | number | Uint8Array | null;
/** In the order of {@link TableShape.columns}. */
export type Cells = readonly Cell[];

export interface TableShape {
  readonly name: TableName;
  /** How many of the first columns form the unique, ascending position of a row. */
  readonly places: number;
  readonly columns: readonly string[];
}

export type TableName = "entries" | "history" | "vectors" | "reference_vectors";

/**
 * Entries first, since dependent rows are deleted with them. `owner` is the subject's namespace, which only some back ends store.
 */
export const STORED_TABLES: readonly TableShape[] = [
  { name: "entries", places: 1, columns: ENTRY_COLUMNS },
  { name: "history", places: 1, columns: ["number", "entry_id", "written_at", "sealed", "owner"] },
  { name: "vectors", places: 2, columns: ["entry_id", "space", "dimensions", "sealed", "owner"] },
  { name: "reference_vectors", places: 1, columns: ["number", "space", "dimensions", "sealed"] },
];

/** The tables of a store as raw rows, which back ends exchange byte for byte during a move. */
export function placeOf({ places }: TableShape, row: Cells): Cells {
  return row.slice(0, places);
}

/** The order in which both back ends return rows: numbers by value, texts by bytes. */
export function comparePlaces(a: Cells, b: Cells): number {
  for (const [i, cell] of a.entries()) {
    const order = compareCells(cell, b[i] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

export function areSame(a: Cells, b: Cells): boolean {
  return a.length === b.length && a.every((cell, i) => isSame(cell, b[i] ?? null));
}

function compareCells(a: Cell, b: Cell): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return Buffer.compare(Buffer.from(`${a}`), Buffer.from(`${b}`));
}

function isSame(a: Cell, b: Cell): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return a === b;
}
