/** Which documents stand beside one another: the same key prefix (up to the last slash), written shortly after each other. */
import { compareText } from "../../engine/index.ts";
import type { IndexedDocument } from "./indexed-document.ts";

/** Longest and shortest time between neighbours. What is written faster comes from an import, whose order says nothing. */
const LONGEST_GAP_MS = 15 * 60 * 1000;
const SHORTEST_GAP_MS = 1000;

const DATE_AT_END = /\d{4}-\d\d(?:-\d\d)?$/;

/** `isThread`: the keys also count on ("call/12", "call/13"), as the lines of a conversation or a log do. */
export interface Neighbour {
  readonly document: IndexedDocument;
  readonly isThread: boolean;
}

/** Documents of one prefix; put in order when they are looked at, since most are added many at a time. */
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

  /** What stands up to `reach` places before and after, with its distance in places; nearest first. */
  around(document: IndexedDocument, reach: number): readonly (Neighbour & { readonly distance: number })[] {
    const group = this.#sorted(document.prefix);
    if (group.length < 2) return [];
    const place = placeOn(group, document);
    const found: (Neighbour & { distance: number })[] = [];
    for (let distance = 1; distance <= reach; distance += 1) {
      for (const other of [group[place - distance], group[place + distance]]) {
        if (other === undefined || !isNear(other, document)) continue;
        found.push({ document: other, isThread: countsOn(other.key, document.key, reach), distance });
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
  return gapMs >= SHORTEST_GAP_MS && gapMs <= LONGEST_GAP_MS;
}

/** Equal but for a number at the end, at most `reach` apart; dates ("2026-03-04") are no such numbers. */
function countsOn(left: string, right: string, reach: number): boolean {
  const [leftStem, leftNumber] = numbered(left);
  const [rightStem, rightNumber] = numbered(right);
  return leftStem !== undefined && leftStem === rightStem && Math.abs(leftNumber - rightNumber) <= reach;
}

function numbered(key: string): readonly [stem: string | undefined, number: number] {
  const digits = /(?<!\d)\d{1,9}$/.exec(key)?.[0];
  return digits === undefined || DATE_AT_END.test(key)
    ? [undefined, 0]
    : [key.slice(0, -digits.length), Number(digits)];
}

/** Binary search by creation time, then key, then id: an order that does not depend on the order of arrival. */
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
