/** The tables of a store as raw rows, which back ends exchange byte for byte during a move. */

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
  {
    name: "entries",
    places: 1,
    columns: [
      ...["seq", "id", "namespace", "origin", "key", "category", "tags"],
      ...["created_at", "updated_at", "expires_at", "digest", "sealed"],
    ],
  },
  { name: "history", places: 1, columns: ["number", "entry_id", "written_at", "sealed", "owner"] },
  { name: "vectors", places: 2, columns: ["entry_id", "space", "dimensions", "sealed", "owner"] },
  { name: "reference_vectors", places: 1, columns: ["number", "space", "dimensions", "sealed"] },
];

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
