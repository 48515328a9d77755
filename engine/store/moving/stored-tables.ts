/** The tables of a store as rows that lie there: what each back end gives and takes of them when a store moves, byte for byte. */

export type Cell = string | number | Uint8Array | null;
/** In the order of {@link TableShape.columns}. */
export type Cells = readonly Cell[];

export interface TableShape {
  readonly name: TableName;
  /** The first so many columns say where a row stands, in ascending order; no two rows share them. */
  readonly places: number;
  readonly columns: readonly string[];
}

export type TableName = "entries" | "history" | "vectors" | "reference_vectors";

/** Entries first: what hangs on one ends with it. `owner` is the subject's namespace, which only some back ends keep. */
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

/** In the order in which both back ends give rows: numbers by value, texts by their bytes. */
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
