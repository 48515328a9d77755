/**
 * Chooses which records of tool calls an answer shows.
 *
 * An agent makes hundreds of tool calls for each fact. Their records have their own index, so that their number does not affect
 * how facts are found. At most one record follows the facts, unless the question asks about past actions. Then records rank among
 * the facts, and every action from the requested time is an answer.
 */
import type { UnixMs } from "../engine/store/memory-store.ts";
import type { PastActions } from "./analysis/past-actions.ts";
import type { IndexedDocument } from "./lexical/indexed-document.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import { bestPerDocument, type ScoredCandidate, sureByTime } from "./scoring.ts";
import type { Selection } from "./select-hits.ts";
import { WEIGHTS } from "./weights.ts";

export interface ToolCalls {
  /** Candidates that match words of the question. */
  readonly scored: readonly ScoredCandidate[];
  readonly deed: PastActions | undefined;
  /** The indexes with runs: tool calls, and the facts' index with packs and pipelines. */
  readonly indexes: readonly LexicalIndex[];
  readonly now: UnixMs;
}

/** The chosen facts and other documents, together with matching calls. */
export function withToolCalls(choice: Selection, toolCalls: ToolCalls, limit: number): Selection {
  const { deed } = toolCalls;
  const sure = bestPerDocument(
    toolCalls.scored.filter((one) => one.isSure && (deed?.covers?.(one.document.createdAt) ?? true)),
  );
  if (deed === undefined) return behind(choice, sure, limit);
  const done = deed.isOpen ? [...sure, ...doneThen(toolCalls, limit)] : sure;
  if (done.length === 0) return choice;
  const facts = choice.shown.filter(({ isSure }) => isSure);
  return { ...choice, shown: bestPerDocument([...facts, ...done]).slice(0, limit) };
}

/** At most this many, ranked below everything else. */
function behind(choice: Selection, sure: readonly ScoredCandidate[], limit: number): Selection {
  const { shown } = choice;
  if (shown.some(({ isSure }) => !isSure)) return choice;
  const { mostBehind, step } = WEIGHTS.calls;
  const lowest = shown.at(-1)?.score ?? 1 + step;
  const added = sure.slice(0, Math.min(mostBehind, limit - shown.length));
  const below = added.map((one) => ({ ...one, score: Math.min(one.score, lowest - step) }));
  return { ...choice, shown: [...shown, ...below] };
}

interface Run {
  readonly document: IndexedDocument;
  readonly index: LexicalIndex;
}

/** The newest run of each tool, pack and pipeline, then the next of each: a hundred calls of one tool do not hide the others. */
function doneThen({ deed, indexes, now }: ToolCalls, limit: number): readonly ScoredCandidate[] {
  const isMeant = ({ origin, createdAt, expiresAt }: IndexedDocument): boolean =>
    origin === "audit" && expiresAt > now && (deed?.covers?.(createdAt) ?? true);
  const runs = indexes.flatMap((index) =>
    [...index.documents()].filter(isMeant).map((document): Run => ({ document, index })),
  );
  const byName = Map.groupBy(runs, ({ document: { key } }) => key.slice(0, key.lastIndexOf("/")));
  const newest = [...byName.values()].map((same) => same.sort(newestFirst).slice(0, limit));
  const ranked = newest.flatMap((same) => same.map((run, rank) => ({ ...run, rank })));
  return ranked
    .sort((one, other) => one.rank - other.rank || newestFirst(one, other))
    .slice(0, limit)
    .flatMap(({ document, index }) => {
      const passage = index.passageOf(document.units[0] ?? -1);
      return passage === undefined ? [] : [sureByTime(document, passage)];
    });
}

function newestFirst({ document: one }: Run, { document: other }: Run): number {
  return other.createdAt - one.createdAt;
}
