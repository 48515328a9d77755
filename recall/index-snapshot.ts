/** Copies of a namespace's indexes: as parts of about a megabyte, each made and read in one short step. */
import { deserialize, serialize } from "node:v8";
import type { IndexSnapshots } from "../engine/store/memory-store.ts";
import { type IndexPart, type IndexView, LexicalIndex } from "./lexical/lexical-index.ts";

/** Increment when the same entries give another index (texts, terms, passages), or when parts have another form. */
const FORMAT = 1;

/** A smaller index is built as quickly from rows. */
export const SNAPSHOT_FROM_DOCUMENTS = 2_000;

/** Where copies are kept. */
export interface SnapshotOptions {
  /** The open store's; undefined when it keeps none. */
  readonly kept: () => IndexSnapshots | undefined;
  /** The program's version. */
  readonly version: string;
}

export function buildOf({ version }: SnapshotOptions): string {
  return `${version} ${FORMAT}`;
}

/** @throws when `isCurrent` tells that the indexes have changed since the first part */
export function* partsOf(view: IndexView, isCurrent: () => boolean): Generator<Uint8Array> {
  for (const index of [view.index, view.toolCalls]) {
    for (const part of index?.parts() ?? []) {
      if (!isCurrent()) throw new Error("The index changed while it was copied.");
      yield serialize([index === view.toolCalls, part]);
    }
  }
}

/** The copied indexes, once every part was read. Throws what `parts` throws. */
export async function indexesFrom(parts: AsyncIterable<Uint8Array>): Promise<IndexView> {
  const index = new LexicalIndex();
  let toolCalls: LexicalIndex | undefined;
  for await (const bytes of parts) {
    // Authenticated, and written by this version.
    const [isOfToolCalls, part] = deserialize(bytes) as [boolean, IndexPart];
    if (isOfToolCalls) toolCalls ??= new LexicalIndex();
    (isOfToolCalls && toolCalls !== undefined ? toolCalls : index).take(part);
  }
  return { index, toolCalls };
}
