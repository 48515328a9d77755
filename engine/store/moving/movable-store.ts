/**
 * A store during a move, which nobody else has open: its raw rows and its metadata.
 *
 * The danger is an accident: one memory in two places would diverge, and a partial one would be taken for complete. So only one
 * place can be open at a time. The target is marked before its first row, and the source before the target is opened; both marks
 * keep every program out, and an interrupted move resumes where it stopped.
 */
import { HelmdeckError } from "../../errors.ts";
import type { StoredKeys } from "../key-ring.ts";
import type { UnixMs } from "../memory-store.ts";
import type { Cells, TableName, TableShape } from "./stored-tables.ts";

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
      : `is incomplete: a move from ${place} began on ${day}. Run the same helmdeck-memory move command again to finish it`;
  return new HelmdeckError("store_moved", `The memory database ${name} ${says}.`, {
    details: { place, moved: kind },
  });
}
