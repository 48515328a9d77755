/** One keyword search over one namespace's index: candidates, their evidence, one honest score, hits. */
import type { UnixMs } from "../../engine/index.ts";
import type { RecallHit } from "../contract.ts";
import type { Ranking } from "../ranking.ts";
import type { IndexedDocument } from "./documents.ts";
import { bestUnits, gather, Scoreboard } from "./evidence.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import type { Passage } from "./passages.ts";
import { proximityOf } from "./proximity.ts";
import { type AnalysedQuery, analyseQuery } from "./query.ts";

/** One unit that speaks for its document, with the shares its score is made of. */
export interface Match {
  readonly document: IndexedDocument;
  readonly passage: Passage;
  readonly score: number;
  readonly parts: Readonly<Record<string, number>>;
}

export interface SearchOptions {
  readonly limit: number;
  readonly now: UnixMs;
  readonly ranking: Ranking;
}

export class LexicalSearch {
  readonly #board = new Scoreboard();
  #conceptOf = new Uint8Array(0);

  /** Best first; at most one match per document, none below the cut-off, none expired. */
  search(text: string, index: LexicalIndex, options: SearchOptions): readonly Match[] {
    const query = analyseQuery(text, index);
    if (query.weight === 0) return [];
    gather(this.#board, query, index, options.ranking);
    const conceptOf = this.#markConcepts(query, index);
    const matches: Match[] = [];
    for (const unit of bestUnits(this.#board, options.ranking.candidates)) {
      const match = this.#judge(unit, query, conceptOf, index, options);
      if (match !== undefined && match.score >= options.ranking.cutOff) matches.push(match);
    }
    for (const concept of query.concepts) for (const { term } of concept.terms) conceptOf[term] = 0;
    return bestPerDocument(matches.sort(compareMatches)).slice(0, options.limit);
  }

  #markConcepts(query: AnalysedQuery, index: LexicalIndex): Uint8Array {
    if (this.#conceptOf.length < index.terms.end)
      this.#conceptOf = new Uint8Array(Math.ceil(index.terms.end * 1.25));
    query.concepts.forEach((concept, number) => {
      for (const { term } of concept.terms) this.#conceptOf[term] = number + 1;
    });
    return this.#conceptOf;
  }

  #judge(
    unit: number,
    query: AnalysedQuery,
    conceptOf: Uint8Array,
    index: LexicalIndex,
    { now, ranking }: SearchOptions,
  ): Match | undefined {
    const document = index.documentOf(unit);
    const passage = index.passageOf(unit);
    if (document === undefined || passage === undefined || document.expiresAt <= now) return undefined;
    const bm25 = this.#board.bm25[unit] ?? 0;
    const coverage = this.#board.coverage[unit] ?? 0;
    const proximity = proximityOf(index.bodyTerms(unit), conceptOf, query.concepts);
    const neighbour = this.#neighbourShare(unit, document, index, ranking);
    const rank =
      ranking.bm25Share * bm25 +
      (1 - ranking.bm25Share) * coverage +
      ranking.proximity * proximity +
      ranking.neighbour * neighbour;
    return {
      document,
      passage,
      score: rank / (rank + 0.15),
      parts: { bm25, coverage, proximity, neighbour },
    };
  }

  #neighbourShare(unit: number, document: IndexedDocument, index: LexicalIndex, ranking: Ranking): number {
    let best = 0;
    for (const other of document.units)
      if (other !== unit) best = Math.max(best, this.#board.bm25[other] ?? 0);
    for (const steps of [-1, 1]) {
      const neighbour = index.neighbours.at(document, steps, ranking.neighbourWithinMs);
      for (const other of neighbour?.units ?? []) best = Math.max(best, this.#board.bm25[other] ?? 0);
    }
    return best;
  }
}

/** Best score first, then newest, then by path: the same query gives the same order. */
function compareMatches(left: Match, right: Match): number {
  return (
    right.score - left.score ||
    right.document.updatedAt - left.document.updatedAt ||
    (left.document.path < right.document.path ? -1 : left.document.path > right.document.path ? 1 : 0) ||
    left.passage.start - right.passage.start
  );
}

function bestPerDocument(matches: readonly Match[]): Match[] {
  const seen = new Set<IndexedDocument>();
  return matches.filter(({ document }) => {
    if (seen.has(document)) return false;
    seen.add(document);
    return true;
  });
}

export function hitOf(match: Match, explain: boolean): RecallHit {
  const { document, passage } = match;
  return {
    docid: document.docid,
    path: document.path,
    title: document.title,
    score: match.score,
    snippet: document.content.slice(passage.start, passage.end),
    startLine: passage.startLine,
    endLine: passage.endLine,
    category: document.category,
    key: document.key,
    updatedAt: document.updatedAt,
    ...(explain ? { parts: match.parts } : {}),
  };
}
