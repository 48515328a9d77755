/**
 * A store during a move, which nobody else has open: its raw rows and its metadata, and the move itself.
 *
 * The danger is an accident: one memory in two places would diverge, and a partial one would be taken for complete. So only one
 * place can be open at a time. The target is marked before its first row, and the source before the target is opened; both marks
 * keep every program out. A move walks source and target in the same order and fixes every difference, so an interrupted one
 * resumes: rows that are already there are compared and kept. A second, read-only walk then verifies each row.
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
function placeOf({ places }: TableShape, row: Cells): Cells {
  return row.slice(0, places);
}

/** The order in which both back ends return rows: numbers by value, texts by bytes. */
function comparePlaces(a: Cells, b: Cells): number {
  for (const [i, cell] of a.entries()) {
    const order = compareCells(cell, b[i] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

function areSame(a: Cells, b: Cells): boolean {
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

const ROWS_AT_ONCE = 250;

/** Rows per table. */
export type RowCounts = Readonly<Record<TableName, number>>;

export interface MovedRows {
  readonly copied: number;
  /** From an interrupted run. */
  readonly kept: number;
  /** Outdated rows of an earlier run or an earlier store. */
  readonly removed: number;
}

interface Places {
  readonly from: MovableStore;
  readonly to: MovableStore;
}

export async function countRows(store: MovableStore): Promise<RowCounts> {
  const counts: Partial<Record<TableName, number>> = {};
  for (const { name } of STORED_TABLES) counts[name] = await store.count(name);
  return counts as RowCounts; // every table has been counted
}

/** Calls `onRows` with the number of source rows done. */
export async function copyRows(places: Places, onRows: (rows: number) => void): Promise<MovedRows> {
  let [copied, kept, removed] = [0, 0, 0];
  for (const table of STORED_TABLES) {
    for await (const { remove, insert, same } of differences(places, table)) {
      if (remove.length + insert.length > 0) await places.to.replace(table, { remove, insert });
      copied += insert.length;
      kept += same;
      removed += remove.length;
      onRows(insert.length + same);
    }
  }
  return { copied, kept, removed };
}

/** Throws `store_corrupt` for the first row that differs between the places. */
export async function verifyRows(places: Places, onRows: (rows: number) => void): Promise<void> {
  for (const table of STORED_TABLES) {
    for await (const { remove, insert, same } of differences(places, table)) {
      if (remove.length + insert.length > 0) throw notTheSame(places, table);
      onRows(same);
    }
  }
}

interface Difference extends Replacing {
  readonly same: number;
}

async function* differences({ from, to }: Places, table: TableShape): AsyncGenerator<Difference> {
  let after: Cells | undefined;
  do {
    const page = { after, limit: ROWS_AT_ONCE };
    const [mine, theirs] = await Promise.all([from.read(table, page), to.read(table, page)]);
    const through = endOf(table, mine, theirs);
    const isWithin = (row: Cells) =>
      through === undefined || comparePlaces(placeOf(table, row), through) <= 0;
    yield difference(table, mine.filter(isWithin), theirs.filter(isWithin));
    after = through;
  } while (after !== undefined);
}

/** The position up to which both pages are complete; undefined for the end. */
function endOf(table: TableShape, ...pages: readonly (readonly Cells[])[]): Cells | undefined {
  const ends = pages.flatMap((rows) => {
    const last = rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1);
    return last === undefined ? [] : [placeOf(table, last)];
  });
  return ends.sort(comparePlaces)[0];
}

function difference(table: TableShape, wanted: readonly Cells[], there: readonly Cells[]): Difference {
  const nameOf = (row: Cells) => JSON.stringify(placeOf(table, row));
  const found = new Map(there.map((row) => [nameOf(row), row]));
  const insert = wanted.filter((row) => {
    const name = nameOf(row);
    const isThere = areSame(row, found.get(name) ?? []);
    if (isThere) found.delete(name);
    return !isThere;
  });
  return { insert, remove: [...found.values()], same: wanted.length - insert.length };
}

function notTheSame({ from, to }: Places, { name }: TableShape): HelmdeckError {
  return new HelmdeckError(
    "store_corrupt",
    `A row of ${name} differs between ${to.name} and ${from.name}. The move was not completed, and ${from.name} is still in ` +
      "use. Run the move again; if the error persists, check the disks of both.",
    { details: { table: name } },
  );
}
