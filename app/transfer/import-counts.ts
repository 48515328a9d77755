/** The result of an import: counts, refused lines and, for a dry run, the first facts. */
import { defined } from "../../engine/defined.ts";
import { type ErrorCode, type HelmdeckError, partlyDone } from "../../engine/errors.ts";
import { kindOfSecret } from "../../engine/facts/secrets.ts";
import type { Revision, UnixMs } from "../../engine/store/memory-store.ts";
import type { Namespace, Subject } from "../../engine/store/namespace.ts";
import { within } from "../../engine/timing.ts";
import type { ImportFile, ImportItem, Place } from "./formats/format.ts";
import type { ImportFormat } from "./formats/names.ts";
import type { KnownFact } from "./known-facts.ts";

export interface ImportCounts {
  /** The number of the last line read; for formats without lines, of items. */
  readonly lines: number;
  /** New facts. */
  readonly stored: number;
  /** Facts that existed with the same value, whose life was renewed. */
  readonly refreshed: number;
  readonly replaced: number;
  /** Facts that memory had under other keys, and that are history of imported ones now. */
  readonly superseded: number;
  /** Not imported: the existing fact was kept. */
  readonly kept: number;
  /** Facts that another one has superseded here since: they stay superseded. */
  readonly retired: number;
  /** Audit rows, including those that already existed. */
  readonly audit: number;
  readonly refusedCount: number;
}

export interface RefusedLine {
  /** Present for several files and for foreign formats. */
  readonly file?: string;
  /** Counted from 1. */
  readonly line: number;
  /** The last line, if there are several. */
  readonly to?: number | undefined;
  /** The item's own name, unless it holds a credential. */
  readonly key?: string;
  readonly code: ErrorCode;
  readonly reason: string;
}

/** A place of a file that the format's rules skip. */
export interface LeftOutPlace extends Place {
  readonly what: string;
}

export interface ImportedFact {
  readonly key: string;
  /** Its beginning. */
  readonly value: string;
  readonly outcome: "stored" | "replaced" | "kept";
}

export interface ImportedOwner {
  readonly from: string;
  readonly to: Subject;
  /** Imported or already present. */
  readonly entries: number;
}

export interface ImportResult extends ImportCounts {
  /** The first 10,000 of them. */
  readonly refused: readonly RefusedLine[];
  /** What the format's rules skip, with counts; absent when nothing was skipped. */
  readonly leftOut?: Readonly<Record<string, number>>;
  /** Where, in the files: the first 10,000 places. */
  readonly leftOutPlaces?: readonly LeftOutPlace[];
  /** The argument of a forget that undoes it, `import:<id>`; absent when nothing tagged was imported. */
  readonly importId?: string;
  /** Who received entries, unless that is only the importing subject. */
  readonly takers?: readonly Subject[];
  /** For a source with several owners: the mapping of owners to subjects. */
  readonly owners?: readonly ImportedOwner[];
  /** For a dry run: nothing was written, and the counts are a preview. */
  readonly foreseen?: Foreseen;
}

/** The change number of each memory, as a preview showed it. */
export type ShownUpTo = ReadonlyMap<Namespace, Revision>;

/** A fact to import, and one that memory has under another key. */
export interface KnownPair {
  readonly fact: { readonly key: string; readonly value: string };
  readonly known: KnownFact;
}

export interface Foreseen {
  /** The facts that would do more than refresh; the first ten, unless all are asked for. */
  readonly first: readonly ImportedFact[];
  /** All of them, in the order of the files. */
  readonly known: readonly KnownPair[];
  /** Facts of earlier imports that are no longer in these files; they are kept. */
  readonly gone: number;
  /** When notes without an expiry would expire; absent without notes. */
  readonly endsAt?: UnixMs;
  /** For the import that follows. */
  readonly shown: ShownUpTo;
}

/** Of refused lines, and of places that are left out. */
const MOST_KEPT = 10_000;
const MOST_LEFT_COUNTED = 1_000;
const COUNT_LEFT_MS = 2_000;

const NO_COUNTS = {
  lines: 0,
  stored: 0,
  refreshed: 0,
  replaced: 0,
  superseded: 0,
  kept: 0,
  retired: 0,
  audit: 0,
  refusedCount: 0,
};

/** A key may be refused for its length. */
const MOST_KEY_CHARACTERS = 512;

/** What takes each item of an import. */
interface Taker {
  take(item: ImportItem): Promise<void>;
  finish(): Promise<ImportResult>;
  /** The scope of a forget that undoes what was taken. */
  readonly undoneBy?: string | undefined;
}

/** What an import has read so far. */
export class ImportTally {
  readonly counts = { ...NO_COUNTS };
  readonly #of: Tallied;
  readonly #refused: RefusedLine[] = [];
  readonly #leftOut: Map<string, number>;
  readonly #places: LeftOutPlace[] = [];
  #entries = 0;
  #dropped = 0;

  constructor(of: Tallied) {
    this.#of = of;
    this.#leftOut = new Map((of.leftOut ?? []).map((name) => [name, 1]));
  }

  /** If an item cannot be taken, the error says how many were imported, and how many were not. */
  async takeAll(items: AsyncGenerator<ImportItem, void, undefined>, taker: Taker): Promise<ImportResult> {
    try {
      for (let next = await items.next(); next.done !== true; next = await items.next()) {
        this.#countLine(next.value);
        await taker.take(next.value);
      }
      return await taker.finish();
    } catch (error) {
      const isAll = await within(COUNT_LEFT_MS, this.#countLeft(items), () => false);
      throw this.#interrupted(error, taker.undoneBy, isAll);
    }
  }

  /** What was not imported. False if there is more: a pipe may have no end, and nobody waits for it. */
  async #countLeft(items: AsyncGenerator<ImportItem, void, undefined>): Promise<boolean> {
    for (let n = 0; n < MOST_LEFT_COUNTED; n += 1) {
      const next = await items.next().catch(() => undefined); // a failure to read is the end
      if (next === undefined || next.done === true) return true;
      this.#countLine(next.value);
    }
    return false;
  }

  /** An entry that was read is not imported, and that is no failure. */
  drop(): void {
    this.#dropped += 1;
  }

  #interrupted(error: unknown, undoneBy: string | undefined, isAll: boolean): unknown {
    if (this.#entries === 0) return error;
    const { stored, refreshed, replaced, audit, kept, retired } = this.counts;
    const imported = stored + refreshed + replaced + audit;
    const left = this.#entries - this.#dropped - imported - kept - retired;
    const undo = undoneBy === undefined ? "" : ` To undo it, forget ${undoneBy}.`;
    const done = `Imported: ${imported}. Not imported, as far as is known: ${left}${isAll ? "" : " or more"}. Import the same files again to continue.${undo}`;
    return partlyDone(error, done, { imported, left });
  }

  #countLine(item: ImportItem): void {
    if ("entry" in item) this.#entries += 1;
    this.counts.lines = this.#of.files.length === 1 ? item.line : this.counts.lines + 1;
  }

  /** `place`: in the file, unless it is about a fact that the file holds, or a row of a database. */
  leaveOut(what: string, place?: Place): void {
    this.#leftOut.set(what, (this.#leftOut.get(what) ?? 0) + 1);
    if (place === undefined || this.#of.format === "helmdeck" || this.#places.length >= MOST_KEPT) return;
    const { file, line, to } = place;
    this.#places.push({ file, line, ...defined({ to }), what });
  }

  async refuse(item: Place, { code, message: reason }: HelmdeckError): Promise<void> {
    if ("entry" in item) this.drop();
    this.counts.refusedCount += 1;
    if (this.#refused.length >= MOST_KEPT) return;
    const { line, to, key = "" } = item;
    const isOnlyFile = this.#of.files.length === 1 && this.#of.format === "jsonl"; // its name need not be repeated
    const isShown = key !== "" && (await kindOfSecret(key)) === undefined; // a key may be refused for its credential
    const shown = defined({ to, key: isShown ? key.slice(0, MOST_KEY_CHARACTERS) : undefined });
    this.#refused.push({ ...(!isOnlyFile && { file: item.file }), line, ...shown, code, reason });
  }

  result(): ImportResult {
    const leftOut = this.#leftOut.size > 0 && { leftOut: Object.fromEntries(this.#leftOut) };
    const places = this.#places.length > 0 && { leftOutPlaces: this.#places };
    return { ...this.counts, refused: this.#refused, ...leftOut, ...places };
  }
}

interface Tallied {
  readonly files: readonly ImportFile[];
  readonly format: ImportFormat;
  /** Files that are skipped, each with the reason. */
  readonly leftOut?: readonly string[];
}
