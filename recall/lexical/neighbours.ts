/** Finds the turns around a turn of a conversation: documents with the same conversation id, written within minutes of each other. */
import { compareText } from "../../engine/compare-text.ts";
import { WEIGHTS } from "../weights.ts";
import type { IndexedDocument } from "./indexed-document.ts";

/** A document is put into its place if that is so near the end; of documents in any order, all are sorted once. */
const NEAR_THE_END = 64;

export interface Neighbour {
  readonly document: IndexedDocument;
  /** In turns. */
  readonly distance: number;
}

/** Sorted on demand, since most are added in batches. */
interface Conversation {
  readonly turns: IndexedDocument[];
  isSorted: boolean;
}

const NONE: readonly Neighbour[] = [];

export class Neighbours {
  readonly #conversations = new Map<string, Conversation>();

  add(document: IndexedDocument): void {
    const id = document.conversationId;
    if (id === undefined) return;
    const conversation = this.#conversations.get(id) ?? { turns: [], isSorted: true };
    if (conversation.turns.length === 0) this.#conversations.set(id, conversation);
    const { turns } = conversation;
    const place = conversation.isSorted ? placeOn(turns, document) : turns.length;
    conversation.isSorted &&= turns.length - place <= NEAR_THE_END;
    if (conversation.isSorted) turns.splice(place, 0, document);
    else turns.push(document);
  }

  remove(document: IndexedDocument): void {
    const id = document.conversationId;
    const { turns } = (id !== undefined && this.#conversations.get(id)) || {};
    const place = turns?.indexOf(document) ?? -1;
    if (id === undefined || turns === undefined || place === -1) return;
    turns.splice(place, 1);
    if (turns.length === 0) this.#conversations.delete(id);
  }

  /** The turns before and after, nearest first. */
  around(document: IndexedDocument): readonly Neighbour[] {
    const id = document.conversationId;
    const conversation = id === undefined ? undefined : this.#conversations.get(id);
    if (conversation === undefined) return NONE;
    const { turns } = conversation;
    if (!conversation.isSorted) turns.sort(compareTurns);
    conversation.isSorted = true;
    const place = placeOn(turns, document);
    const found: Neighbour[] = [];
    const isNear = ({ createdAt }: IndexedDocument) =>
      Math.abs(createdAt - document.createdAt) <= WEIGHTS.thread.longestGapMs;
    for (let distance = 1; distance <= WEIGHTS.thread.reach; distance += 1) {
      for (const other of [turns[place - distance], turns[place + distance]])
        if (other !== undefined && isNear(other)) found.push({ document: other, distance });
    }
    return found;
  }
}

/** Binary search. */
function placeOn(turns: readonly IndexedDocument[], document: IndexedDocument): number {
  let low = 0;
  let high = turns.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = turns[middle];
    if (other !== undefined && compareTurns(other, document) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

const byKey = new Intl.Collator("en", { numeric: true });

/** By time. Turns without times of their own have that of their import: then `turn/2` is before `turn/10`. */
function compareTurns(left: IndexedDocument, right: IndexedDocument): number {
  return (
    left.createdAt - right.createdAt || byKey.compare(left.key, right.key) || compareText(left.id, right.id)
  );
}
