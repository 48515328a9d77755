/**
 * Moves a store's rows: walks source and target in the same order and fixes every difference.
 *
 * So an interrupted move resumes: rows that are already there are compared and kept. A second, read-only walk then verifies each
 * row.
 */
import { HelmdeckError } from "../../errors.ts";
import {
  areSame,
  type Cells,
  comparePlaces,
  type MovableStore,
  placeOf,
  type Replacing,
  STORED_TABLES,
  type TableName,
  type TableShape,
} from "./movable-store.ts";

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

export interface Places {
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
