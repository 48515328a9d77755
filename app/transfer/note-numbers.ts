/**
 * Gives notes of one name their keys: `important`, `important-2`, and so on.
 *
 * A file changes between imports, and each note must find its own fact again. So a note gets the key of the fact that has its
 * text. A note without such a fact waits until all notes are known. It then gets the key of a fact that had its text before, or
 * of the fact at its place among its neighbours, because it was edited there. Otherwise it gets a new number.
 */
import { createHash } from "node:crypto";
import { isImportTag } from "../../engine/facts/import-tag.ts";
import { pagesOf } from "../../engine/pages-of.ts";
import type { Entry, MemoryStore, NewEntry, UnixMs } from "../../engine/store/memory-store.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import { formerKeys } from "../history.ts";
import type { ImportItem } from "./formats/format.ts";

const PAGE_KEYS = 1_000;
const NUMBERED = /^(.+)-([2-9]|[1-9]\d{1,8})$/s;

type NoteItem = Extract<ImportItem, { readonly entry: unknown }>;

/** A key of a name, of a fact or of one that was superseded. */
interface Slot {
  readonly key: string;
  /** 1 for the name itself. */
  readonly number: number;
  /** Whether an import wrote the fact. */
  readonly isImported: boolean;
}

/** A note that has its number, or waits. */
interface Numbered {
  number: number | undefined;
  readonly waiting?: NoteItem;
}

interface Series {
  readonly name: string;
  /** In memory. */
  readonly numbers: ReadonlySet<number>;
  /** The last new one. */
  last: number;
  /** In the order of their numbers. */
  readonly slots: readonly Slot[];
  readonly byText: SlotsByText;
  /** In the order of the files. */
  readonly notes: Numbered[];
}

/** By digest. */
type SlotsByText = ReadonlyMap<string, readonly Slot[]>;
type TextOfSlot = readonly [slot: Slot, text: Uint8Array];

export class NoteNumbers {
  readonly #store: MemoryStore;
  readonly #namespace: Namespace;
  readonly #retired: RetiredKeys;
  /** The numbers in memory, by name. */
  #numbers: Promise<ReadonlyMap<string, ReadonlySet<number>>> | undefined;
  readonly #series = new Map<string, Series>();
  /** The keys of this import. */
  readonly #given = new Set<string>();

  constructor(store: MemoryStore, namespace: Namespace, retired: RetiredKeys) {
    this.#store = store;
    this.#namespace = namespace;
    this.#retired = retired;
  }

  /** The note under its key; undefined when it waits for {@link rest}. */
  async give(item: NoteItem): Promise<NoteItem | undefined> {
    const series = await this.#seriesOf(item.entry.key);
    const slot = this.#freeOf(series.byText.get(digestOf(item.entry.value)));
    const isWaiting = slot === undefined && series.slots.length > 0;
    const number = isWaiting ? undefined : this.#take(slot ?? this.#newSlot(series));
    series.notes.push({ number, ...(isWaiting && { waiting: item }) });
    return number === undefined ? undefined : underKey(item, number);
  }

  /** The notes that wait, under their keys. */
  async *rest(): AsyncGenerator<NoteItem> {
    for (const series of this.#series.values()) {
      if (series.notes.some(({ waiting }) => waiting !== undefined)) await this.#findSlots(series);
      for (const note of series.notes) {
        if (note.waiting === undefined) continue;
        note.number ??= this.#take(this.#newSlot(series));
        yield underKey(note.waiting, note.number);
      }
    }
  }

  async #findSlots(series: Series): Promise<void> {
    const byFormer = byTextOf(await this.#formerOf(series));
    for (const note of series.notes) {
      if (note.waiting === undefined) continue;
      const slot = this.#freeOf(byFormer.get(digestOf(note.waiting.entry.value)));
      if (slot !== undefined) note.number = this.#take(slot);
    }
    const after = nextNumbers(series.notes);
    let before = 0;
    for (const [index, note] of series.notes.entries()) {
      const slot =
        note.number === undefined ? this.#freeBetween(series, [before, after[index] ?? Infinity]) : undefined;
      if (slot !== undefined) note.number = this.#take(slot);
      before = note.number ?? before;
    }
  }

  async #seriesOf(name: string): Promise<Series> {
    const known = this.#series.get(name);
    if (known !== undefined) return known;
    this.#numbers ??= this.#readNumbers();
    const numbers = (await this.#numbers).get(name) ?? new Set();
    const slots: Slot[] = [];
    const texts: TextOfSlot[] = [];
    for (const number of [...numbers].sort((a, b) => a - b)) {
      const key = keyOf(name, number);
      const entry = await this.#entryAt(key);
      const slot = { key, number, isImported: entry?.tags.some(isImportTag) === true };
      slots.push(slot);
      if (entry !== undefined) texts.push([slot, entry.value]);
    }
    const series: Series = { name, numbers, last: 0, slots, byText: byTextOf(texts), notes: [] };
    this.#series.set(name, series);
    return series;
  }

  async #readNumbers(): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
    const numbers = new Map<string, Set<number>>();
    const add = (name: string, number: number): void => {
      numbers.set(name, (numbers.get(name) ?? new Set()).add(number));
    };
    for await (const key of this.#keys()) {
      add(key, 1);
      const [, name, number] = NUMBERED.exec(key) ?? [];
      if (name !== undefined) add(name, Number(number));
    }
    return numbers;
  }

  /** Also of superseded facts. */
  async *#keys(): AsyncGenerator<string> {
    yield* this.#retired.keys();
    const query = { namespace: this.#namespace, origin: "fact", limit: PAGE_KEYS } as const;
    for await (const { entries } of pagesOf((more) => this.#store.listMeta({ ...query, ...more })))
      for (const { key } of entries) yield key;
  }

  async #entryAt(key: string): Promise<Entry | undefined> {
    if (this.#retired.has(key)) return undefined;
    return this.#store.get({ namespace: this.#namespace, origin: "fact", key }).catch(() => undefined);
  }

  /** What the facts of free keys said before. */
  async #formerOf({ slots }: Series): Promise<readonly TextOfSlot[]> {
    const texts: TextOfSlot[] = [];
    for (const slot of slots.filter(({ key }) => !this.#given.has(key))) {
      const key = this.#retired.get(slot.key)?.of ?? slot.key;
      const former = await this.#store.history({ namespace: this.#namespace, origin: "fact", key });
      for (const { key: its, value } of former) if (its === slot.key) texts.push([slot, value]);
    }
    return texts;
  }

  /** The first free key between those of the neighbours. A number can also be a person's key, or another note's name. */
  #freeBetween({ slots }: Series, neighbours: readonly [number, number]): Slot | undefined {
    const [low, high] = [Math.min(...neighbours), Math.max(...neighbours)];
    const isOurs = ({ key, number, isImported }: Slot) =>
      number === 1 || (isImported && !this.#series.has(key));
    return slots.find(
      (slot) => slot.number > low && slot.number < high && isOurs(slot) && !this.#given.has(slot.key),
    );
  }

  #freeOf(slots: readonly Slot[] = []): Slot | undefined {
    return slots.find(({ key }) => !this.#given.has(key));
  }

  #newSlot(series: Series): Pick<Slot, "key" | "number"> {
    const { name, numbers } = series;
    let number = series.last + 1;
    while (numbers.has(number) || this.#given.has(keyOf(name, number))) number += 1;
    series.last = number;
    return { key: keyOf(name, number), number };
  }

  #take({ key, number }: Pick<Slot, "key" | "number">): number {
    this.#given.add(key);
    return number;
  }
}

/** For each note, the number of the next one that has a number. */
function nextNumbers(notes: readonly Numbered[]): readonly number[] {
  let next = Infinity;
  return notes
    .toReversed()
    .map(({ number }) => {
      next = number ?? next;
      return next;
    })
    .reverse();
}

function underKey(item: NoteItem, number: number): NoteItem {
  return { ...item, entry: { ...item.entry, key: keyOf(item.entry.key, number) } };
}

function keyOf(name: string, number: number): string {
  return number === 1 ? name : `${name}-${number}`;
}

function byTextOf(texts: readonly TextOfSlot[]): SlotsByText {
  const slots = new Map<string, Slot[]>();
  for (const [slot, text] of texts) {
    const digest = digestOf(text);
    const same = slots.get(digest);
    if (same === undefined) slots.set(digest, [slot]);
    else same.push(slot);
  }
  return slots;
}

function digestOf(text: Uint8Array): string {
  return createHash("sha256").update(text).digest("base64");
}

/** For each key that is no longer in use. */
export type RetiredKeys = ReadonlyMap<string, RetiredKey>;

interface RetiredKey {
  /** When the last value was written. */
  readonly updatedAt: UnixMs;
  /** The fact that has it in its history. */
  readonly of: string;
}

/** Tracks superseded facts, so that an older export does not bring them back. */
export async function readRetiredKeys(store: MemoryStore, namespace: Namespace): Promise<RetiredKeys> {
  const retired = new Map<string, RetiredKey>();
  for await (const { key, updatedAt, of } of formerKeys(store, namespace)) {
    const isLast = updatedAt >= (retired.get(key)?.updatedAt ?? 0);
    if (key !== of.key && isLast) retired.set(key, { updatedAt, of: of.key });
  }
  for (const key of retired.keys()) {
    if ((await store.countWhere({ namespace, origins: ["fact"], key })) > 0) retired.delete(key);
  }
  return retired;
}

/** A line without a time counts as new. A note without a time counts as written at its import: its file is the same each time. */
export function isRetired(
  retired: RetiredKeys,
  { origin, key, updatedAt }: NewEntry,
  isNote = false,
): boolean {
  const last = retired.get(key)?.updatedAt;
  if (origin !== "fact" || last === undefined) return false;
  return updatedAt === undefined ? isNote : updatedAt <= last;
}
