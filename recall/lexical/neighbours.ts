/**
 * Finds documents that are lines of one conversation or log: the same key prefix (up to the last slash), consecutive numbers
 * ("call/12", "call/13"), or written shortly after each other.
 */
import { compareText } from "../../engine/compare-text.ts";
import { WEIGHTS } from "../weights.ts";
import type { IndexedDocument } from "./indexed-document.ts";

/** A document is put into its place if that is so near the end; of documents in any order, all are sorted once. */
const NEAR_THE_END = 64;

export interface Neighbour {
  readonly document: IndexedDocument;
  /** In lines. */
  readonly distance: number;
}

/** Documents with the same prefix. Sorted on demand, since most are added in batches. */
interface PrefixGroup {
  readonly documents: IndexedDocument[];
  isSorted: boolean;
}

export class Neighbours {
  readonly #groups = new Map<string, PrefixGroup>();

  add(document: IndexedDocument): void {
    if (document.prefix === undefined) return;
    const group = this.#groups.get(document.prefix);
    if (group === undefined) {
      this.#groups.set(document.prefix, { documents: [document], isSorted: true });
      return;
    }
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
    const group = this.#groups.get(document.prefix);
    if (group === undefined) this.#groups.set(document.prefix, { documents: [document], isSorted: true });
    else group.documents.push(document);
  }

  remove(document: IndexedDocument): void {
    const group = document.prefix === undefined ? undefined : this.#groups.get(document.prefix);
    if (document.prefix === undefined || group === undefined) return;
    const place = group.documents.indexOf(document);
    if (place !== -1) group.documents.splice(place, 1);
    if (group.documents.length === 0) this.#groups.delete(document.prefix);
  }

  /** The lines before and after, nearest first. */
  around(document: IndexedDocument): readonly Neighbour[] {
    const group = this.#sorted(document.prefix);
    if (group.length < 2) return [];
    const place = placeOn(group, document);
    const found: Neighbour[] = [];
    for (let distance = 1; distance <= WEIGHTS.thread.reach; distance += 1) {
      for (const other of [group[place - distance], group[place + distance]]) {
        if (other === undefined || !countsOn(other, document) || !isNear(other, document)) continue;
        found.push({ document: other, distance });
      }
    }
    return found;
  }

  #sorted(prefix: string | undefined): readonly IndexedDocument[] {
    const group = prefix === undefined ? undefined : this.#groups.get(prefix);
    if (group === undefined) return [];
    if (!group.isSorted) group.documents.sort(compareInThread);
    group.isSorted = true;
    return group.documents;
  }
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
