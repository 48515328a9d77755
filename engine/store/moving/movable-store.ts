/**
 * A store that nobody else has open, for as long as it moves: its rows as they lie, and what it says of itself.
 *
 * Who attacks: mishap. One memory in two places would grow apart, and a half one would be taken for the whole. What stops it: only one
 * place is open at a time. What is coming in is marked before its first row, and what has moved away before the other place
 * is opened; both marks keep every program out, and a move that was killed goes on from wherever it was.
 */
import { HelmdeckError } from "../../errors.ts";
import type { StoredKeys } from "../key-ring.ts";
import type { UnixMs } from "../memory-store.ts";
import type { Cells, TableName, TableShape } from "./stored-tables.ts";

/** Why a store may not be opened: its memory is elsewhere, or is not all here yet. */
export interface MoveMark {
  readonly kind: "away" | "incoming";
  /** The other place, as a person would name it; without a password. */
  readonly place: string;
  readonly at: UnixMs;
}

/** All that a store says of itself. */
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
  /** Only what comes after this place. */
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
  /** Undefined where there is no store yet. */
  head(): Promise<StoreHead | undefined>;
  count(table: TableName): Promise<number>;
  /** In the order of their places. */
  read(table: TableShape, page: Page): Promise<readonly Cells[]>;
  /** Whole rows, in one transaction. */
  replace(table: TableShape, rows: Replacing): Promise<void>;
  /** Begins to take the rows of the store with this head, under this mark. */
  begin(head: StoreHead, mark: MoveMark): Promise<void>;
  /** All rows are here: numbers go on after the highest, readers begin anew, and the store may be opened. */
  finish(head: StoreHead): Promise<void>;
  /** Keeps every program out. */
  markAway(mark: MoveMark): Promise<void>;
  /** Takes the mark off; who remembers the store begins anew. */
  reopen(generation: number): Promise<void>;
  close(): Promise<void>;
}

/** Why a store with this mark is not opened. */
export function movedError(name: string, { kind, place, at }: MoveMark): HelmdeckError {
  const day = new Date(at).toISOString().slice(0, 10);
  const says =
    kind === "away"
      ? `was moved to ${place} on ${day}, and nothing is written here any longer. Use the memory there (helmdeck-memory serve --store), ` +
        "or bring it back with helmdeck-memory move --from. If that place is lost: helmdeck-memory move --reopen"
      : `is not all here yet: a move from ${place} was begun on ${day}. Run the same helmdeck-memory move again; it goes on from there`;
  return new HelmdeckError("store_moved", `The memory database ${name} ${says}.`, {
    details: { place, moved: kind },
  });
}
