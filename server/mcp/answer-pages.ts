/**
 * Answers in parts of at most 60,000 bytes of JSON: clients reject longer ones whole (above some 25,000 tokens).
 *
 * An answer ends between two items of its list, and its `next_cursor` continues there. Only the text of an item that fills an
 * answer alone is cut, with `part` saying where. A cursor names the next item and not its number, because others write meanwhile:
 * nothing is missed, and where the item is gone, some items come twice.
 */
import { createHash } from "node:crypto";
import { defined } from "../../engine/defined.ts";
import { invalidField } from "../../engine/errors.ts";
import { jsonListOf } from "../../engine/json.ts";
import type { PackPages } from "../../packs/engine/pack-contract.ts";

const MOST_BYTES = 60_000;
/** For the protocol's envelope around an answer, and the cursor in it. */
const BYTES_AROUND = 1_500;
const ROOM = MOST_BYTES - BYTES_AROUND;
/** Of other lists in an answer that leaves no room for its items, such as the keys of unreadable facts. */
const MOST_NAMED = 10;

export type Answer = Readonly<Record<string, unknown>>;

export function bytesOf(sent: unknown): number {
  return Buffer.byteLength(JSON.stringify(sent) ?? "");
}

export function isShort(sent: unknown): boolean {
  return bytesOf(sent) <= ROOM;
}

/** Where an answer begins: in the page after the pack's own cursor, at the item with this mark, after this many characters. */
interface Place {
  readonly own?: string;
  readonly mark?: string;
  readonly from: number;
}

const OURS = "~";

/** Throws `invalid_input` for what is neither of an earlier answer, nor may be the pack's own. */
export function placeOf(cursor: unknown, hasOwn: boolean): Place {
  if (cursor === undefined || cursor === null) return { from: 0 };
  const isOurs = typeof cursor === "string" && cursor.startsWith(OURS);
  if (!isOurs && hasOwn) return { own: String(cursor), from: 0 };
  const text = isOurs ? Buffer.from(cursor.slice(OURS.length), "base64url").toString() : "";
  const [own, mark, from] = jsonListOf(text);
  if (typeof mark === "string" && typeof from === "number" && Number.isSafeInteger(from) && from >= 0)
    return { mark, from, ...(typeof own === "string" && { own }) };
  throw invalidField("cursor", "is not from an earlier answer; leave it out");
}

function cursorOf({ own }: Place, next: Answer, from: number): string {
  return OURS + Buffer.from(JSON.stringify([own ?? null, markOf(next), from])).toString("base64url");
}

type SizeOf = (answer: Answer) => number;

interface Division {
  readonly place: Place;
  readonly sizeOf: SizeOf;
  /** Whether the caller can ask for the rest. */
  readonly continues: boolean;
}

/** As much of a pack's answer as there is room for, from a place on. */
export function fitting(whole: Answer, pages: PackPages, { place, sizeOf, continues }: Division): Answer {
  if (place.mark === undefined && sizeOf(whole) <= ROOM) return whole;
  const { items, text } = pages;
  const list = items === undefined ? [whole] : (whole[items] as readonly Answer[]); // as its schema says
  const isCrowded = items !== undefined && sizeOf({ ...whole, [items]: [] }) > ROOM / 2;
  const frame = isCrowded ? withFewNames(whole) : whole;
  const of = (shown: readonly Answer[], next?: unknown) => {
    const answer = items === undefined ? shown[0] : { ...frame, [items]: shown };
    return { ...answer, ...defined({ next_cursor: next }) };
  };
  const room = ROOM - sizeOf(of([]));
  const costOf = (item: Answer) => sizeOf(of([item])) - (ROOM - room);
  if (continues) return pageFrom(place, list, { of, text, room, costOf, ownNext: whole.next_cursor });
  const share = room / list.length;
  const shown = list.map((item) => cutTo(item, text, 0, (one) => costOf(one) <= share));
  const total = () => shown.reduce((sum, item) => sum + costOf(item), 0);
  while (shown.length > 1 && total() > room) shown.pop();
  return { ...of(shown), ...(shown.length < list.length && { incomplete: true }) };
}

interface Page {
  readonly of: (shown: readonly Answer[], next?: unknown) => Answer;
  readonly text: string;
  readonly room: number;
  readonly costOf: SizeOf;
  readonly ownNext: unknown;
}

function pageFrom(place: Place, list: readonly Answer[], { of, text, room, costOf, ownNext }: Page): Answer {
  const found = list.findIndex((item) => markOf(item) === place.mark);
  const shown: Answer[] = [];
  let left = room;
  for (const [index, item] of list.entries()) {
    if (index < found) continue;
    const from = index === found ? place.from : 0;
    const rest = cutTo(item, text, from, () => true);
    left -= costOf(rest);
    if (left < 0 && shown.length > 0) return of(shown, cursorOf(place, item, 0));
    if (left < 0) {
      const cut = cutTo(item, text, from, (one) => costOf(one) <= room);
      return of([cut], cursorOf(place, item, Object(cut.part).to ?? 0));
    }
    shown.push(rest);
  }
  return of(shown, ownNext);
}

function markOf({ key, docid, number, updated_at, fingerprint, metadata }: Answer): string {
  const { updated_at: writtenAt } = Object(metadata);
  const named = JSON.stringify([docid ?? key ?? number, updated_at ?? writtenAt, fingerprint]);
  return createHash("sha256").update(named).digest("base64url").slice(0, 16);
}

function withFewNames(answer: Answer): Answer {
  const fields = Object.entries(answer).map(([name, value]) => {
    const isNames = Array.isArray(value) && value.every((one) => typeof one === "string");
    return [name, isNames ? value.slice(0, MOST_NAMED) : value];
  });
  return Object.fromEntries(fields);
}

/** The item with the longest part of its text that fits, from a character on; to the end of a line, if one is near. */
function cutTo(item: Answer, text: string, from: number, fits: (item: Answer) => boolean): Answer {
  const whole = item[text];
  if (typeof whole !== "string") return item;
  const upTo = (to: number) => {
    if (from === 0 && to === whole.length) return item;
    return { ...item, [text]: whole.slice(from, to), part: { from, to, of: whole.length } };
  };
  if (fits(upTo(whole.length))) return upTo(whole.length);
  let [to, most] = [from, whole.length - 1];
  while (to < most) {
    const middle = Math.ceil((to + most) / 2);
    if (fits(upTo(middle))) to = middle;
    else most = middle - 1;
  }
  const line = whole.lastIndexOf("\n", to - 1) + 1;
  if (line > (from + to) / 2) return upTo(line);
  return upTo(/[\uD800-\uDBFF]/.test(whole[to - 1] ?? "") ? to - 1 : to);
}

/** A summary without the later half of its longest list, as often as needed; `note` says so. */
export function shortened(summary: Answer, sizeOf: SizeOf): Answer {
  if (sizeOf(summary) <= ROOM) return summary;
  const lists = Object.entries(summary).flatMap(([name, list]) =>
    Array.isArray(list) && list.length > 0 ? [{ name, list }] : [],
  );
  const [longest] = lists.sort((a, b) => bytesOf(b.list) - bytesOf(a.list));
  if (longest === undefined) return summary;
  const half = longest.list.slice(0, Math.floor(longest.list.length / 2));
  const note = "There is more than one answer can hold.";
  return shortened({ ...summary, [longest.name]: half, note }, sizeOf);
}
