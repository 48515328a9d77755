/** What an import tells of itself: counts, what is refused, and in a dry run the first facts. */
import type { ErrorCode, Subject, UnixMs } from "../../engine/index.ts";

export interface ImportCounts {
  /** The number of the last line read; of what has no lines, of items. */
  readonly lines: number;
  /** Facts that were not there. */
  readonly stored: number;
  /** Facts that were there with the same value, and got a new life. */
  readonly refreshed: number;
  readonly replaced: number;
  /** What did not come in: what is there stays. */
  readonly kept: number;
  /** Facts that another one superseded here since: they stay retired. */
  readonly retired: number;
  /** Audit rows, also those that were there. */
  readonly audit: number;
  readonly refusedCount: number;
}

export interface RefusedLine {
  /** Where the import has several files, or none of ours. */
  readonly file?: string;
  /** Its number, from 1. */
  readonly line: number;
  /** Where each has a name of its own, that holds no credential. */
  readonly key?: string;
  readonly code: ErrorCode;
  readonly reason: string;
}

export interface ImportedFact {
  readonly key: string;
  readonly value: string;
  readonly outcome: "stored" | "replaced" | "kept";
}

export interface ImportedOwner {
  readonly from: string;
  readonly to: Subject;
  /** That came in, or were there. */
  readonly entries: number;
}

export interface ImportResult extends ImportCounts {
  /** The first 10,000 of them. */
  readonly refused: readonly RefusedLine[];
  /** What the format's rules leave out, and how often; absent for nothing. */
  readonly leftOut?: Readonly<Record<string, number>>;
  /** What a forget takes back, `import:<id>`; absent where nothing came in that is marked. */
  readonly importId?: string;
  /** Who took it: only where that is not the one subject that imports. */
  readonly takers?: readonly Subject[];
  /** Of a source with several owners, whose entries became whose. */
  readonly owners?: readonly ImportedOwner[];
  /** Of a dry run: nothing was written, and the counts are those that there would be. */
  readonly foreseen?: Foreseen;
}

interface Foreseen {
  /** The first facts that would not be only refreshed. */
  readonly first: readonly ImportedFact[];
  /** Facts of earlier imports of these files that are in them no longer, and stay. */
  readonly gone: number;
  /** When notes that say no end themselves would end; absent without notes. */
  readonly endsAt?: UnixMs;
}

export const NO_COUNTS = {
  lines: 0,
  stored: 0,
  refreshed: 0,
  replaced: 0,
  kept: 0,
  retired: 0,
  audit: 0,
  refusedCount: 0,
};
