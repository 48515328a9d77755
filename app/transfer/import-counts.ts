/** The result of an import: counts, refused lines and, for a dry run, the first facts. */
import { type ErrorCode, HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { kindOfSecret, refuseSecrets } from "../../engine/facts/secrets.ts";
import type { NewEntry, Revision, UnixMs } from "../../engine/store/memory-store.ts";
import type { Namespace, Subject } from "../../engine/store/namespace.ts";
import type { ImportFile, Place } from "./formats/format.ts";
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
  /** The item's own name, unless it holds a credential. */
  readonly key?: string;
  readonly code: ErrorCode;
  readonly reason: string;
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

const REFUSALS_KEPT = 10_000;

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

/**
 * What an import refuses, and what it says when it stops halfway.
 *
 * Also in its former values.
 */
export async function refuseSecretsIn(entry: NewEntry): Promise<void> {
  for (const { value, ...names } of [entry, ...(entry.history ?? [])]) {
    await refuseSecrets({ ...names, value: Buffer.from(value).toString() });
  }
}

/** What an import has read so far. */
export class ImportTally {
  readonly counts = { ...NO_COUNTS };
  readonly #refused: RefusedLine[] = [];
  readonly #leftOut: Map<string, number>;
  readonly #isOneFile: boolean;
  readonly #isOneOfLines: boolean;

  constructor({ files, format, leftOut = [] }: Tallied) {
    this.#leftOut = new Map(leftOut.map((name) => [name, 1]));
    this.#isOneFile = files.length === 1;
    this.#isOneOfLines = this.#isOneFile && format === "jsonl";
  }

  countLine({ line }: Place): void {
    this.counts.lines = this.#isOneFile ? line : this.counts.lines + 1;
  }

  leaveOut(what: string): void {
    this.#leftOut.set(what, (this.#leftOut.get(what) ?? 0) + 1);
  }

  async refuse(item: Place, problem: HelmdeckError): Promise<void> {
    this.counts.refusedCount += 1;
    if (this.#refused.length < REFUSALS_KEPT)
      this.#refused.push(await refusalOf(item, problem, this.#isOneOfLines));
  }

  result(): ImportResult {
    const leftOut = this.#leftOut.size > 0 && { leftOut: Object.fromEntries(this.#leftOut) };
    return { ...this.counts, refused: this.#refused, ...leftOut };
  }
}

interface Tallied {
  readonly files: readonly ImportFile[];
  readonly format: ImportFormat;
  /** Files that are skipped, each with the reason. */
  readonly leftOut?: readonly string[];
}

/** `isOnlyFile`: its name need not be repeated. */
async function refusalOf(
  item: Place,
  { code, message }: HelmdeckError,
  isOnlyFile: boolean,
): Promise<RefusedLine> {
  const file = isOnlyFile ? {} : { file: item.file };
  return { ...file, line: item.line, ...(await nameOf(item)), code, reason: message };
}

/** The key itself may be refused for the credential in it. */
async function nameOf({ key }: Place): Promise<{ readonly key?: string }> {
  if (key === undefined || (await kindOfSecret(key)) !== undefined) return {};
  return { key: key.slice(0, MOST_KEY_CHARACTERS) };
}

/** `known`: for JSON Lines, the last imported line; for notes, the scope that undoes the import. */
export function interrupted(error: unknown, known: number | string | undefined): unknown {
  if (!isHelmdeckError(error)) return error;
  const isLine = typeof known === "number";
  const far = isLine
    ? `Everything up to line ${known} was imported, and nothing after it`
    : "Some items may have been imported";
  const back = typeof known === "string" ? ` To undo it, forget ${known}.` : "";
  const details = { ...error.details, ...(isLine && { safeLine: known }) };
  const message = `${error.message} ${far}; import the file again to continue.${back}`;
  return new HelmdeckError(error.code, message, { details, cause: error });
}
