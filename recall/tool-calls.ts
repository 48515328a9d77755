/**
 * What an answer shows of the records of tool calls.
 *
 * An agent calls hundreds of tools for each fact that it is told. Their records have an index of their own, so that their number
 * changes nothing about how facts are found, and one of them at most stands behind the facts, unless the question asks what was
 * done. Then they stand among the facts, and whatever was done at the time that is asked for is an answer.
 */
import type { UnixMs } from "../engine/index.ts";
import type { AskedDeed } from "./analysis/what-was-done.ts";
import type { Choice } from "./choose.ts";
import { bestOf, type Judged, sureByTime } from "./judge.ts";
import type { IndexedDocument } from "./lexical/indexed-document.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import { WEIGHTS } from "./weights.ts";

export interface Calls {
  /** Those that have words of the question, with their verdicts. */
  readonly judged: readonly Judged[];
  readonly deed: AskedDeed | undefined;
  /** Where runs are: of tools, and among facts those of packs and pipelines. */
  readonly indexes: readonly LexicalIndex[];
  readonly now: UnixMs;
}

/** The facts and other documents that were chosen, and the calls that belong with them. */
export function withCalls(choice: Choice, calls: Calls, limit: number): Choice {
  const { deed } = calls;
  const sure = bestOf(
    calls.judged.filter((one) => one.isSure && (deed?.covers?.(one.document.createdAt) ?? true)),
  );
  if (deed === undefined) return behind(choice, sure, limit);
  const done = deed.isOpen ? [...sure, ...doneThen(calls, limit)] : sure;
  if (done.length === 0) return choice;
  const facts = choice.arePossible ? [] : choice.shown;
  return { ...choice, arePossible: false, shown: bestOf([...facts, ...done]).slice(0, limit) };
}

/** At most so many, below everything else that is shown. */
function behind(choice: Choice, sure: readonly Judged[], limit: number): Choice {
  const { shown, arePossible } = choice;
  if (arePossible && shown.length > 0) return choice;
  const { mostBehind, step } = WEIGHTS.calls;
  const lowest = shown.at(-1)?.score ?? 1 + step;
  const added = sure.slice(0, Math.min(mostBehind, limit - shown.length));
  const below = added.map((one) => ({ ...one, score: Math.min(one.score, lowest - step) }));
  return { ...choice, arePossible: false, shown: [...shown, ...below] };
}

interface Run {
  readonly document: IndexedDocument;
  readonly index: LexicalIndex;
  /** Of those of the same name, the newest is 0. */
  readonly rank: number;
}

/** The newest of each tool, pack and pipeline, then the next of each: a hundred calls of one do not hide the others. */
function doneThen(calls: Calls, limit: number): readonly Judged[] {
  const byName = Map.groupBy(runsThen(calls), ({ document }) => document.prefix);
  const ranked = [...byName.values()].flatMap((same) =>
    same
      .sort(newestFirst)
      .slice(0, limit)
      .map((run, rank) => ({ ...run, rank })),
  );
  return ranked
    .sort((one, other) => one.rank - other.rank || newestFirst(one, other))
    .slice(0, limit)
    .flatMap(({ document, index }) => {
      const passage = index.passageOf(document.units[0] ?? -1);
      return passage === undefined ? [] : [sureByTime(document, passage)];
    });
}

function runsThen({ deed, indexes, now }: Calls): readonly Run[] {
  const isMeant = ({ origin, createdAt, expiresAt }: IndexedDocument): boolean =>
    origin === "audit" && expiresAt > now && (deed?.covers?.(createdAt) ?? true);
  return indexes.flatMap((index) =>
    [...index.documents()].filter(isMeant).map((document) => ({ document, index, rank: 0 })),
  );
}

function newestFirst({ document: one }: Run, { document: other }: Run): number {
  return other.createdAt - one.createdAt;
}
