/** Which documents stand beside one another: the same key prefix (up to the last slash), in the order of their creation. */
import type { IndexedDocument } from "./documents.ts";

export class Neighbours {
  readonly #shelves = new Map<string, IndexedDocument[]>();

  add(document: IndexedDocument): void {
    const prefix = prefixOf(document.key);
    if (prefix === undefined) return;
    const shelf = this.#shelves.get(prefix);
    if (shelf === undefined) this.#shelves.set(prefix, [document]);
    else shelf.splice(placeOn(shelf, document), 0, document);
  }

  remove(document: IndexedDocument): void {
    const prefix = prefixOf(document.key);
    const shelf = prefix === undefined ? undefined : this.#shelves.get(prefix);
    if (prefix === undefined || shelf === undefined) return;
    const place = shelf[placeOn(shelf, document)] === document ? placeOn(shelf, document) : -1;
    if (place !== -1) shelf.splice(place, 1);
    if (shelf.length === 0) this.#shelves.delete(prefix);
  }

  /** The document `steps` places later (earlier when negative), if it was created within `withinMs` of this one. */
  at(document: IndexedDocument, steps: number, withinMs: number): IndexedDocument | undefined {
    const prefix = prefixOf(document.key);
    const shelf = prefix === undefined ? undefined : this.#shelves.get(prefix);
    const other = shelf?.[placeOn(shelf, document) + steps];
    if (other === undefined || Math.abs(other.createdAt - document.createdAt) > withinMs) return undefined;
    return other;
  }
}

function prefixOf(key: string): string | undefined {
  const slash = key.lastIndexOf("/");
  return slash <= 0 ? undefined : key.slice(0, slash);
}

/** Binary search by creation time, then key, then id: an order that does not depend on the order of arrival. */
function placeOn(shelf: readonly IndexedDocument[], document: IndexedDocument): number {
  let low = 0;
  let high = shelf.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = shelf[middle];
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

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
