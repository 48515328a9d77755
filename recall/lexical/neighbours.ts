/**
 * Finds documents that are lines of one conversation or log: the same key prefix (up to the last slash), consecutive numbers
 * ("call/12", "call/13"), or written shortly after each other.
 */
import { compareText } from "../../engine/compare-text.ts";
import { WEIGHTS } from "../weights.ts";
import type { IndexedDocument } from "./indexed-document.ts";
import { ownCopy } from "./terms.ts";

/** A document is put into its place if that is so near the end; of documents in any order, all are sorted once. */
const NEAR_THE_END = 64;

export interface Neighbour {
  readonly document: IndexedDocument;
  /** In lines. */
  readonly distance: number;
}

/** Documents with the same prefix. Sorted on demand, since most are added in batches. */
interface PrefixGroup {
  readonly prefix: string;
  readonly documents: IndexedDocument[];
  /** How many documents have each number at the end of their key: where none is near, no list is looked at. */
  readonly lines: Map<number, number>;
  isSorted: boolean;
}

const NONE: readonly Neighbour[] = [];

export class Neighbours {
  readonly #groups = new Map<string, PrefixGroup>();

  add(document: IndexedDocument): void {
    if (document.prefix === undefined) return;
    const { prefix } = document;
    const group = this.#groupOf(prefix);
    countLine(group, document, 1);
    if (!group.isSorted) {
      group.documents.push(document);
      return;
    }
    const place = placeOn(group.documents, document);
    group.isSorted = group.documents.length - place <= NEAR_THE_END;
    if (group.isSorted) group.documents.splice(place, 0, document);
    else group.documents.push(document);
  }

  /** Adds a document that comes after all others in the order of {@link compareInThread}. */
  addLast(document: IndexedDocument): void {
    if (document.prefix === undefined) return;
    const group = this.#groupOf(document.prefix);
    countLine(group, document, 1);
    group.documents.push(document);
  }

  #groupOf(prefix: string): PrefixGroup {
    const group = this.#groups.get(prefix) ?? { prefix, documents: [], lines: new Map(), isSorted: true };
    if (group.documents.length === 0) this.#groups.set(prefix, group);
    return group;
  }

  remove(document: IndexedDocument): void {
    const group = document.prefix === undefined ? undefined : this.#groups.get(document.prefix);
    if (document.prefix === undefined || group === undefined) return;
    const place = group.documents.indexOf(document);
    if (place === -1) return;
    group.documents.splice(place, 1);
    countLine(group, document, -1);
    if (group.documents.length === 0) this.#groups.delete(document.prefix);
  }

  /** The lines before and after, nearest first. */
  around(document: IndexedDocument): readonly Neighbour[] {
    const all = document.prefix === undefined ? undefined : this.#groups.get(document.prefix);
    if (all === undefined || !hasLineNear(all, document)) return NONE;
    const group = sorted(all);
    const place = placeOn(group, document);
    let found: Neighbour[] | undefined;
    for (let distance = 1; distance <= WEIGHTS.thread.reach; distance += 1) {
      for (let at = place - distance; at <= place + distance; at += 2 * distance) {
        const other = group[at];
        if (other === undefined || !countsOn(other, document) || !isNear(other, document)) continue;
        found ??= [];
        found.push({ document: other, distance });
      }
    }
    return found ?? NONE;
  }

  /** The same text as one object for all of a group, which is found faster and kept once. */
  sharedPrefix(prefix: string): string {
    return this.#groups.get(prefix)?.prefix ?? ownCopy(prefix);
  }
}

function sorted(group: PrefixGroup): readonly IndexedDocument[] {
  if (!group.isSorted) group.documents.sort(compareInThread);
  group.isSorted = true;
  return group.documents;
}

function countLine({ lines }: PrefixGroup, { lineNumber }: IndexedDocument, change: 1 | -1): void {
  if (lineNumber === undefined) return;
  const count = (lines.get(lineNumber) ?? 0) + change;
  if (count === 0) lines.delete(lineNumber);
  else lines.set(lineNumber, count);
}

/** Whether another document has a number that may count on this one's. */
function hasLineNear({ lines }: PrefixGroup, { lineNumber }: IndexedDocument): boolean {
  if (lineNumber === undefined) return false;
  if ((lines.get(lineNumber) ?? 0) > 1) return true;
  for (let distance = 1; distance <= WEIGHTS.thread.reach; distance += 1)
    if (lines.has(lineNumber - distance) || lines.has(lineNumber + distance)) return true;
  return false;
}

function isNear(left: IndexedDocument, right: IndexedDocument): boolean {
  const gapMs = Math.abs(left.createdAt - right.createdAt);
  return gapMs >= WEIGHTS.thread.shortestGapMs && gapMs <= WEIGHTS.thread.longestGapMs;
}

/** Equal except for a close number at the end. */
function countsOn(left: IndexedDocument, right: IndexedDocument): boolean {
  if (left.lineNumber === undefined || right.lineNumber === undefined) return false;
  const isClose = Math.abs(left.lineNumber - right.lineNumber) <= WEIGHTS.thread.reach;
  return isClose && withoutNumber(left.key) === withoutNumber(right.key);
}

function withoutNumber(key: string): string {
  return key.replace(/\d+$/, "");
}

/** Binary search by creation time, then key, then id: an order independent of arrival. */
function placeOn(group: readonly IndexedDocument[], document: IndexedDocument): number {
  let low = 0;
  let high = group.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = group[middle];
    if (other !== undefined && compareInThread(other, document) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function compareInThread(left: IndexedDocument, right: IndexedDocument): number {
  return (
    left.createdAt - right.createdAt || compareText(left.key, right.key) || compareText(left.id, right.id)
  );
}
