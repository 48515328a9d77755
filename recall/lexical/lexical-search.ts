/** Keyword search over one namespace's index: candidates, their features, one honest score, the best of them. */
import { compareText, type UnixMs } from "../../engine/index.ts";
import type { Ranking } from "../ranking.ts";
import { analyseQuery } from "./analyse-query.ts";
import { ConceptMarks, FeatureExtractor } from "./candidate-features.ts";
import { CandidateScores } from "./candidate-scores.ts";
import type { IndexedDocument } from "./indexed-document.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import { isNamed, namesIn } from "./named-documents.ts";
import type { Passage } from "./passages.ts";
import { answeredBy, type Features, rankOf, scoreOf, withoutNoise } from "./scoring.ts";

/** Neighbours of this many of the best units are looked at too, since their context may lift them over the candidates. */
const PULLING = 50;

/** A document that answers, by its best passage. */
export interface Match {
  readonly document: IndexedDocument;
  readonly passage: Passage;
  readonly score: number;
  readonly features: Features;
}

export interface SearchOptions {
  readonly now: UnixMs;
  readonly ranking: Ranking;
}

/** A passage before the verdict. */
export interface Ranked {
  readonly unit: number;
  readonly document: IndexedDocument;
  readonly passage: Passage;
  readonly rank: number;
  readonly features: Features;
}

/** Holds scratch memory, so it serves one search at a time; a search is synchronous. */
export class LexicalSearch {
  readonly #scores = new CandidateScores();
  readonly #marks = new ConceptMarks();

  /** What the words say about the passages that have any of them, and about others that are named; in no order, none expired. */
  inspect(
    text: string,
    index: LexicalIndex,
    { ranking, now }: SearchOptions,
    others: readonly number[] = [],
  ): readonly Ranked[] {
    const concepts = analyseQuery(text, index);
    if (concepts.length === 0) return [];
    this.#scores.fill(concepts, index, ranking);
    this.#marks.set(concepts, index.terms.end);
    const tools = { scores: this.#scores, marks: this.#marks };
    const extractor = new FeatureExtractor(concepts, index, ranking, tools);
    const names = namesIn(text);
    const units = this.#units(index, ranking);
    for (const unit of others) units.add(unit);
    const ranked: Ranked[] = [];
    for (const unit of units) {
      const one = rank(unit, index, extractor, { ranking, now, names });
      if (one !== undefined) ranked.push(one);
    }
    this.#marks.wipe(concepts);
    return ranked;
  }

  #units(index: LexicalIndex, ranking: Ranking): Set<number> {
    const units = new Set(this.#scores.best(ranking.candidates));
    for (const unit of this.#scores.best(PULLING)) {
      const document = index.documentOf(unit);
      if (document === undefined) continue;
      for (const { document: other } of index.neighbours.around(document, ranking.reach)) {
        for (const near of other.units) if (this.#scores.sumOf(near) > 0) units.add(near);
      }
    }
    return units;
  }
}

function rank(
  unit: number,
  index: LexicalIndex,
  extractor: FeatureExtractor,
  options: RankOptions,
): Ranked | undefined {
  const document = index.documentOf(unit);
  const passage = index.passageOf(unit);
  if (document === undefined || passage === undefined || document.expiresAt <= options.now) return undefined;
  const features = { ...extractor.featuresOf(unit, document), isNamed: isNamed(document, options.names) };
  return { unit, document, passage, features, rank: rankOf(features, options.ranking) };
}

interface RankOptions extends SearchOptions {
  readonly names: ReadonlySet<string>;
}

/** What words make an answer, with its score; in no order. */
export function scored(ranked: readonly Ranked[], { cutOff }: Pick<Ranking, "cutOff">): readonly Match[] {
  const best = Math.max(0, ...ranked.map(({ features }) => answeredBy(features)));
  const answers = cutOff === false ? ranked : withoutNoise(ranked, cutOff);
  return answers.map(({ document, passage, rank, features }) => {
    const match = { document, passage, features };
    return { ...match, score: scoreOf(rank, answeredBy(features), best) };
  });
}

/** The best match of each document, best first. */
export function bestOf<T extends Match>(matches: readonly T[]): readonly T[] {
  return bestPerDocument([...matches].sort(compare));
}

/** Best score first, then newest, then by path: the same query gives the same order. */
function compare(left: Match, right: Match): number {
  return (
    right.score - left.score ||
    right.document.updatedAt - left.document.updatedAt ||
    compareText(left.document.path, right.document.path) ||
    left.passage.start - right.passage.start
  );
}

function bestPerDocument<T extends Match>(ranked: readonly T[]): readonly T[] {
  const seen = new Set<IndexedDocument>();
  return ranked.filter(({ document }) => {
    if (seen.has(document)) return false;
    seen.add(document);
    return true;
  });
}
