/**
 * Finds documents that are lines of one conversation or log: the same key prefix (up to the last slash), consecutive numbers
 * ("call/12", "call/13"), or written shortly after each other.
 */
import { compareText } from "../../engine/compare-text.ts";
import { WEIGHTS } from "../weights.ts";
import type { IndexedDocument } from "./indexed-document.ts";

const DATE_AT_END = /\d{4}-\d\d(?:-\d\d)?$/;

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
    const last = group.documents.at(-1);
    if (last !== undefined && last.createdAt >= document.createdAt) group.isSorted = false;
    group.documents.push(document);
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
        if (other === undefined || !isNear(other, document) || !countsOn(other.key, document.key)) continue;
        found.push({ document: other, distance });
      }
    }
    return found;
  }

  #sorted(prefix: string | undefined): readonly IndexedDocument[] {
    const group = prefix === undefined ? undefined : this.#groups.get(prefix);
    if (group === undefined) return [];
    if (!group.isSorted) group.documents.sort(compare);
    group.isSorted = true;
    return group.documents;
  }
}

function isNear(left: IndexedDocument, right: IndexedDocument): boolean {
  const gapMs = Math.abs(left.createdAt - right.createdAt);
  return gapMs >= WEIGHTS.thread.shortestGapMs && gapMs <= WEIGHTS.thread.longestGapMs;
}

/** Equal except for a close number at the end; dates ("2026-03-04") do not count as numbers. */
function countsOn(left: string, right: string): boolean {
  const [leftStem, leftNumber] = numbered(left);
  const [rightStem, rightNumber] = numbered(right);
  return (
    leftStem !== undefined &&
    leftStem === rightStem &&
    Math.abs(leftNumber - rightNumber) <= WEIGHTS.thread.reach
  );
}

function numbered(key: string): readonly [stem: string | undefined, number: number] {
  const digits = /(?<!\d)\d{1,9}$/.exec(key)?.[0];
  return digits === undefined || DATE_AT_END.test(key)
    ? [undefined, 0]
    : [key.slice(0, -digits.length), Number(digits)];
}

/** Binary search by creation time, then key, then id: an order independent of arrival. */
function placeOn(group: readonly IndexedDocument[], document: IndexedDocument): number {
  let low = 0;
  let high = group.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = group[middle];
    if (other !== undefined && compare(other, document) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compare(left: IndexedDocument, right: IndexedDocument): number {
  return (
    left.createdAt - right.createdAt || compareText(left.key, right.key) || compareText(left.id, right.id)
  );
}
