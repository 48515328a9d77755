/** Copies of a namespace's indexes: as parts of about a megabyte, each made and read in one short step. */
import { deserialize, serialize } from "node:v8";
import type { IndexSnapshots } from "../engine/store/memory-store.ts";
import { type IndexPart, type IndexView, LexicalIndex } from "./lexical/lexical-index.ts";

/** Increment when the same entries give another index (texts, terms, passages), or when parts have another form; a test notices. */
const FORMAT = 3;

/** A smaller index is built from rows in less than a fifth of a second. */
export const LARGE_DOCUMENTS = 2_000;

/** Where copies are kept. */
export interface SnapshotOptions {
  /** The open store's; undefined when it keeps none. */
  readonly kept: () => IndexSnapshots | undefined;
  /** The program's version. */
  readonly version: string;
  /** From how many documents on an index is copied. Default 2,000. */
  readonly largeDocuments?: number;
}

export function buildOf({ version }: SnapshotOptions): string {
  return `${version} ${FORMAT} ${process.versions.icu}`; // ICU divides texts into words
}

/** Before each part: whether it is of the tool calls' index, and whether it is a bare page. Keeps numbers aligned. */
const TAG_BYTES = 4;

/** @throws when `isCurrent` tells that the indexes have changed since the first part */
export function* partsOf(view: IndexView, isCurrent: () => boolean): Generator<Uint8Array> {
  for (const index of [view.index, view.toolCalls]) {
    for (const part of index?.parts() ?? []) {
      if (!isCurrent()) throw new Error("The index changed while it was copied.");
      yield bytesOfPart(part, index === view.toolCalls);
    }
  }
}

function bytesOfPart(part: IndexPart, isOfToolCalls: boolean): Uint8Array {
  const tag = Uint8Array.of(Number(isOfToolCalls), Number(part.kind === "page"), 0, 0);
  if (part.kind !== "page") return Buffer.concat([tag, serialize(part)]);
  const { buffer, byteOffset, byteLength } = part.page;
  return Buffer.concat([tag, new Uint8Array(buffer, byteOffset, byteLength)]);
}

/** The copied indexes, once every part was read. Throws what `parts` throws. */
export async function indexesFrom(parts: AsyncIterable<Uint8Array>): Promise<IndexView> {
  const index = new LexicalIndex();
  let toolCalls: LexicalIndex | undefined;
  for await (const part of parts) {
    const isOfToolCalls = part[0] === 1;
    if (isOfToolCalls) toolCalls ??= new LexicalIndex();
    (isOfToolCalls && toolCalls !== undefined ? toolCalls : index).take(partIn(part));
  }
  return { index, toolCalls };
}

/** A page is not copied again: there may be hundreds of megabytes of them. */
function partIn(part: Uint8Array): IndexPart {
  const content = part.subarray(TAG_BYTES);
  if (part[1] !== 1) return deserialize(content) as IndexPart; // authenticated, and written by this version
  const isAligned = content.byteOffset % Uint32Array.BYTES_PER_ELEMENT === 0;
  const { buffer, byteOffset, byteLength } = isAligned ? content : Uint8Array.from(content);
  return {
    kind: "page",
    page: new Uint32Array(buffer, byteOffset, byteLength / Uint32Array.BYTES_PER_ELEMENT),
  };
}
