/** Recall over many namespaces: keeps an index of each current, and answers queries by words and, where it can, by meaning. */
import {
  ANSWER_LIMITS,
  countWithin,
  defined,
  type Namespace,
  type RecallMode,
  type Timer,
  type UnixMs,
} from "../engine/index.ts";
import { excerptFor } from "./excerpt.ts";
import { fuse, type Meant } from "./fusion.ts";
import { IndexCache, type NamespaceIndex } from "./index-cache.ts";
import { isTelling } from "./lexical/analyse-query.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import { bestOf, LexicalSearch, type Match, scored } from "./lexical/lexical-search.ts";
import { coverageNote, missedNote, nothingEmbeddedNote } from "./meaning/answer-notes.ts";
import { expandedQuery } from "./meaning/query-expansion.ts";
import { Questions, type ReadQuestion } from "./meaning/questions.ts";
import type { ReferenceVectors } from "./meaning/reference-vectors.ts";
import { bestApart, withDistinctTexts, withoutDuplicates } from "./near-duplicates.ts";
import { mostPossible, possibleAmong } from "./possible.ts";
import { DEFAULT_RANKING, type Ranking } from "./ranking.ts";
import type { CorpusSource, Recall, RecallAnswer, RecallHit, RecallQuery } from "./search-contract.ts";
import type { SemanticIndex } from "./vectors/semantic-contract.ts";

export interface RecallOptions {
  readonly source: CorpusSource;
  readonly now: () => UnixMs;
  /** Absent: by words alone. Whoever gives it closes it. */
  readonly semantic?: SemanticIndex;
  /** What the reference texts mean to a model. Default: made once for each process. */
  readonly references?: ReferenceVectors;
  /** For how long a question's vector is waited for. */
  readonly timer?: Timer;
  /** Default 1,500. */
  readonly questionBudgetMs?: number;
  /** Namespaces whose index is kept in memory; the least recently used one is dropped. Default 16. */
  readonly maxNamespaces?: number;
  /** Rows asked of the source at a time. Default 250. */
  readonly batchSize?: number;
  /** A search waits this long for a first build before it answers from what is indexed. Default 1,000. */
  readonly patienceMs?: number;
  readonly ranking?: Partial<Ranking>;
  /** For queries that do not say. Default `balanced`. */
  readonly mode?: RecallMode;
}

const PATIENCE_MS = 1_000;
/** Passages whose nearness is known to the ranking. Many more than are shown: a line lends its meaning to those around it. */
const NEAREST = 1_000;

/** By how many deviations less a text is near that is near only to the question in other words: they may not mean the same. */
const IN_OTHER_WORDS = 0.5;

const STILL_INDEXING = "Still indexing this memory: more may be found in a moment.";

/** Errors of the source reach the caller of the search that met them; those of embeddings only make it search by words. */
export function createRecall(options: RecallOptions): Recall {
  return new HybridRecall(options);
}

type Asked = Required<RecallQuery>;

class HybridRecall implements Recall {
  readonly #options: RecallOptions;
  readonly #ranking: Ranking;
  readonly #indexes: IndexCache;
  readonly #questions: Questions;
  readonly #lexical = new LexicalSearch();

  constructor(options: RecallOptions) {
    const { timer, questionBudgetMs, references } = options;
    this.#options = options;
    this.#ranking = { ...DEFAULT_RANKING, ...options.ranking };
    this.#indexes = new IndexCache(options);
    this.#questions = new Questions({
      ...defined({ timer, references, budgetMs: questionBudgetMs }),
    });
  }

  search(
    namespace: Namespace,
    { query, limit, explain = false, recall = this.#options.mode ?? "balanced" }: RecallQuery,
  ): Promise<RecallAnswer> {
    const asked = { query, limit: countWithin(limit, ANSWER_LIMITS.hits), explain, recall };
    return this.#indexes.use(namespace, async (namespaceIndex) => {
      const isComplete = await namespaceIndex.catchUpWithin(this.#options.patienceMs ?? PATIENCE_MS);
      // A person has waited long enough by then.
      if (!isComplete) return { ...this.#byWords(namespaceIndex, asked, STILL_INDEXING), incomplete: true };
      return this.#byMeaningToo(namespace, namespaceIndex, asked);
    });
  }

  async warm(namespace: Namespace): Promise<void> {
    await this.#indexes.use(namespace, (namespaceIndex) => namespaceIndex.catchUp());
    const { semantic } = this.#options;
    const embedder = semantic?.serving(namespace);
    // Where nothing is embedded but a question it would only be in the question's way.
    if (embedder !== undefined && semantic?.status().embeds) this.#questions.prepare(embedder);
  }

  close(): void {
    this.#indexes.close();
  }

  async #byMeaningToo(
    namespace: Namespace,
    namespaceIndex: NamespaceIndex,
    asked: Asked,
  ): Promise<RecallAnswer> {
    const { semantic } = this.#options;
    if (semantic === undefined || namespaceIndex.index.documentCount === 0)
      return this.#byWords(namespaceIndex, asked);
    const embedder = semantic.serving(namespace);
    if (embedder === undefined) {
      return this.#byWords(namespaceIndex, asked, nothingEmbeddedNote(semantic.status()));
    }
    const expanded = expandedQuery(asked.query, namespaceIndex.index);
    const [read, again] = await Promise.all([
      this.#questions.read(asked.query, embedder),
      expanded === undefined ? undefined : this.#questions.read(expanded, embedder),
    ]);
    if (read.kind === "missed") return this.#byWords(namespaceIndex, asked, missedNote(read.code));
    const meant = meantBy(
      [read, again?.kind === "read" ? again : undefined],
      semantic,
      namespace,
      namespaceIndex,
    );
    return {
      ...this.#fused(namespaceIndex, asked, meant),
      ...reason(coverageNote(semantic.coverage(namespace))),
    };
  }

  #byWords({ index }: NamespaceIndex, asked: Asked, why?: string): RecallAnswer {
    const options = { now: this.#options.now(), ranking: this.#ranking };
    const ranked = this.#lexical.inspect(asked.query, index, options);
    const sure = bestOf(scored(ranked, this.#ranking));
    const results = this.#results(sure, () => scored(ranked, NOTHING_CUT_OFF), index, asked);
    return { results, mode: "keyword", ...reason(why) };
  }

  #fused({ index }: NamespaceIndex, asked: Asked, meant: Meant): RecallAnswer {
    const options = { now: this.#options.now(), ranking: this.#ranking };
    const ranked = this.#lexical.inspect(asked.query, index, options, [...meant.nearness.keys()]);
    const sure = withoutDuplicates(bestOf(fuse(ranked, meant, index, options)), index);
    const uncut = { ...options, ranking: { ...this.#ranking, ...NOTHING_CUT_OFF } };
    const results = this.#results(sure, () => fuse(ranked, meant, index, uncut), index, asked);
    return { results, mode: "hybrid" };
  }

  /** The sure hits; where there are none, what is possibly meant, unless only sure ones are wanted. */
  #results<T extends Match>(
    sure: readonly T[],
    candidates: () => readonly T[],
    index: LexicalIndex,
    { query, limit, explain, recall }: Asked,
  ): readonly RecallHit[] {
    const { possible } = this.#ranking;
    const most = mostPossible(recall, limit, possible);
    if (sure.length > 0 || most === 0 || !isTelling(query)) {
      return bestApart(sure, index, limit).map((match) => hitOf(match, explain));
    }
    const worthShowing = possibleAmong(bestOf(candidates()), possible);
    const distinct = bestApart(withDistinctTexts(worthShowing, index), index, most);
    const excerpt = excerptFor(query, index);
    return distinct.map((match) => {
      const passage = excerpt(match.document.content, match.passage);
      return { ...hitOf({ ...match, passage }, explain), possible: true };
    });
  }
}

const NOTHING_CUT_OFF = { cutOff: false } as const;

type Reading = Extract<ReadQuestion, { readonly kind: "read" }>;

/**
 * In deviations, by the units that the words know these passages by; where the question was read in other words too, the nearer
 * of both counts. What has gone meanwhile is left out.
 */
function meantBy(
  [asked, expanded]: readonly [Reading, Reading | undefined],
  semantic: SemanticIndex,
  namespace: Namespace,
  { index }: NamespaceIndex,
): Meant {
  const nearness = new Map<number, number>();
  const add = ({ question, scale }: Reading, doubt: number): void => {
    for (const { id, passage, similarity } of semantic.search(namespace, question, NEAREST)) {
      const unit = index.documentWith(id)?.units[passage];
      if (unit === undefined) continue;
      nearness.set(unit, Math.max(scale(similarity) - doubt, nearness.get(unit) ?? Number.NEGATIVE_INFINITY));
    }
  };
  add(asked, 0);
  if (expanded !== undefined) add(expanded, IN_OTHER_WORDS);
  return { nearness, passages: index.unitEnd };
}

function reason(why: string | undefined): { readonly reason?: string } {
  return why === undefined ? {} : { reason: why };
}

function hitOf(
  { document, passage, score, features, ...rest }: Match & { readonly others?: number },
  explain: boolean,
): RecallHit {
  const { kind, docid, path, title, category, key, createdAt, updatedAt, writer } = document;
  const expiresAt = document.expiresAt === Number.POSITIVE_INFINITY ? undefined : document.expiresAt;
  const snippet = document.content.slice(passage.start, passage.end);
  const { startLine, endLine } = passage;
  const found = { kind, docid, path, title, score, snippet, startLine, endLine, category, key };
  const hit = { ...found, createdAt, updatedAt, ...defined({ expiresAt, writer }) };
  return explain ? { ...hit, parts: partsOf({ ...features, ...rest }) } : hit;
}

/** Shares and counts; 1 for what is so. */
function partsOf(features: Readonly<Record<string, number | boolean>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(features).map(([name, value]) => [name, Number(value)]));
}
