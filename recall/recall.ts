/** Recall over many namespaces: keeps an index of each up to date, and answers queries by keywords and, when possible, by meaning. */
import { ANSWER_LIMITS, countWithin, type RecallMode } from "../engine/answer-limits.ts";
import { defined } from "../engine/defined.ts";
import type { UnixMs } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import { nextTurn } from "../engine/timing.ts";
import { alikeFacts } from "./alike-facts.ts";
import { isEnglish } from "./analysis/commonness.ts";
import { parsePastActions } from "./analysis/past-actions.ts";
import { isDistinctive, partsOf as partsOfQuery, type Query, readQuery } from "./analysis/query.ts";
import type { FactText } from "./claims.ts";
import { type Excerpt, excerptFor } from "./excerpt.ts";
import { withConflicts } from "./hit-conflicts.ts";
import { IndexCache, type IndexCacheOptions } from "./index-cache.ts";
import type { IndexedDocument } from "./lexical/indexed-document.ts";
import type { IndexView, LexicalIndex } from "./lexical/lexical-index.ts";
import { LexicalSearch } from "./lexical/lexical-search.ts";
import {
  coverageNote,
  expandedQuery,
  keywordsOnlyNote,
  missedNote,
  nothingEmbeddedNote,
  Questions,
  type ReadQuestion,
} from "./meaning/questions.ts";
import { cosine, type ReferenceVectors } from "./meaning/reference-vectors.ts";
import type { ReadMeaning, RelatedPair } from "./related-facts.ts";
import {
  bestPerDocument,
  type Features,
  type PassageSimilarities,
  type ScoredCandidate,
  scoreCandidates,
} from "./scoring.ts";
import type {
  AlikeFact,
  AlikeWanted,
  IndexCounts,
  Recall,
  RecallAnswer,
  RecallHit,
  RecallQuery,
  ScorePart,
} from "./search-contract.ts";
import { type Selection, selectHits, whyPossible, withToolCalls } from "./select-hits.ts";
import type { SemanticIndex } from "./vectors/semantic-contract.ts";
import { type PossibleWeights, WEIGHTS } from "./weights.ts";

export interface RecallOptions extends Omit<IndexCacheOptions, "turn" | "meaning" | "onRead"> {
  readonly now: () => UnixMs;
  /** Why there is no `semantic` although somebody configured it, as a sentence for answers. */
  readonly keywordsOnly?: string;
  /** A model's reference vectors. Default: one shared instance per process. */
  readonly references?: ReferenceVectors;
  /** Default 1,500. */
  readonly questionBudgetMs?: number;
  /** How long a search waits for a first build before it answers from a partial index. Default 1,000. */
  readonly patienceMs?: number;
  /** Return every candidate, without a cut-off: for measurements. Default false. */
  readonly showsAll?: boolean;
  /** Other rules, for measurements. Default: those of the weights table. */
  readonly possible?: PossibleWeights;
  /** For queries without a mode. Default `balanced`. */
  readonly mode?: RecallMode;
}

const PATIENCE_MS = 1_000;
/** Passages with a known similarity in the ranking. Many more than are shown: a line lends its similarity to those around it. */
const NEAREST = 1_000;
/** Facts near to one of them that are compared with it. */
const NEAR_A_FACT = 6;
/** The longest stretch of comparing before others are served. */
const RELATING_MS = 4;
const STILL_INDEXING = "Still indexing this memory. There may be more hits in a moment.";

/** Source errors reach the search that hit them; embedding errors only fall back to keyword search. */
export function createRecall(options: RecallOptions): Recall {
  return new HybridRecall(options);
}

interface Asked extends Required<Omit<RecallQuery, "query">> {
  readonly query: Query;
  readonly parts: readonly Query[];
}

class HybridRecall implements Recall {
  readonly #options: RecallOptions;
  readonly #indexes: IndexCache;
  readonly #questions: Questions;
  readonly #lexical = new LexicalSearch();

  constructor(options: RecallOptions) {
    const { timer, questionBudgetMs, references } = options;
    this.#options = options;
    const meaning = (namespace: Namespace, view: IndexView) => this.#meaningOfFacts(namespace, view);
    this.#indexes = new IndexCache({ ...options, meaning });
    this.#questions = new Questions({ ...defined({ timer, references, budgetMs: questionBudgetMs }) });
  }

  search(
    namespace: Namespace,
    { query: text, limit, explain = false, recall = this.#options.mode ?? "balanced" }: RecallQuery,
  ): Promise<RecallAnswer> {
    const query = readQuery(text);
    const parts = partsOfQuery(query);
    const asked = { query, parts, limit: countWithin(limit, ANSWER_LIMITS.hits), explain, recall };
    return this.#indexes.use(namespace, async (namespaceIndex) => {
      const view = await namespaceIndex.catchUpWithin(this.#options.patienceMs ?? PATIENCE_MS);
      // A person has waited long enough.
      if (view === undefined)
        return { ...this.#answer(namespaceIndex, asked, []), reason: STILL_INDEXING, incomplete: true };
      return this.#byMeaningToo(namespace, view, asked);
    });
  }

  alike(namespace: Namespace, fact: FactText, wanted: AlikeWanted): Promise<readonly AlikeFact[]> {
    return this.#indexes.use(namespace, async (namespaceIndex) => {
      const view = await namespaceIndex.catchUp();
      const { meant } = await this.#meaningOf(namespace, view, fact.value);
      const { index } = view;
      return alikeFacts(fact, { lexical: this.#lexical, index, meant, now: this.#options.now(), wanted });
    });
  }

  related(namespace: Namespace): Promise<readonly RelatedPair[]> {
    return this.#indexes.use(namespace, async (namespaceIndex) => {
      const view = await namespaceIndex.catchUp();
      const meaning = await this.#meaningOfFacts(namespace, view);
      while (view.index.related.relateUntil(performance.now() + RELATING_MS, meaning)) await nextTurn();
      return [...view.index.related.pairs()];
    });
  }

  async warm(namespace: Namespace): Promise<void> {
    await this.#indexes.use(namespace, (namespaceIndex) => namespaceIndex.catchUp());
    const { semantic } = this.#options;
    const embedder = semantic?.serving(namespace);
    // When the index does not embed entries, this would only delay the question.
    if (embedder !== undefined && semantic?.status().embeds) this.#questions.prepare(embedder);
  }

  get indexes(): IndexCounts {
    return this.#indexes.counts;
  }

  close(): Promise<void> {
    return this.#indexes.close();
  }

  async #byMeaningToo(namespace: Namespace, view: IndexView, asked: Asked): Promise<RecallAnswer> {
    const { query, parts } = asked;
    const [{ meant, why } = {}, ...meantByParts] = await Promise.all(
      [query, ...parts].map(({ text }) => this.#meaningOf(namespace, view, text)),
    );
    const meaning = meant && (await this.#meaningOfFacts(namespace, view));
    const answer = this.#answer(view, asked, [meant, ...meantByParts.map((part) => part.meant)], meaning);
    return { ...answer, ...defined({ reason: why }) };
  }

  /** Undefined where no model serves; a failure of it is told of the question. */
  async #meaningOfFacts(namespace: Namespace, { index }: IndexView): Promise<ReadMeaning | undefined> {
    const { semantic } = this.#options;
    const embedder = semantic?.serving(namespace);
    if (semantic === undefined || embedder === undefined) return undefined;
    const { space, language } = embedder;
    const scales = await this.#questions.space(embedder).catch(() => undefined);
    if (scales === undefined) return undefined;
    const knows = (document: IndexedDocument) => language === undefined || isEnglishDocument(document);
    return (document) => {
      const vector = knows(document) ? semantic.vectorOf(namespace, space, document.id) : undefined;
      if (vector === undefined) return undefined;
      const scale = scales(vector);
      const deviations = (other: IndexedDocument) => {
        const its = knows(other) ? semantic.vectorOf(namespace, space, other.id) : undefined;
        return its && scale(cosine(vector, its));
      };
      const nearest = semantic
        .search(namespace, { space, vector }, NEAR_A_FACT)
        .filter(({ similarity }) => scale(similarity) >= WEIGHTS.similar.meaning)
        .flatMap(({ id }) => index.documentWith(id) ?? []);
      return { nearest, deviations };
    };
  }

  /** The similarities to a text, and why there are none, or not all. */
  async #meaningOf(
    namespace: Namespace,
    view: IndexView,
    text: string,
  ): Promise<{ meant?: PassageSimilarities; why?: string | undefined }> {
    const { semantic, keywordsOnly } = this.#options;
    if (semantic === undefined) return { why: keywordsOnly && keywordsOnlyNote(keywordsOnly) };
    if (view.index.documentCount === 0) return {};
    const embedder = semantic.serving(namespace);
    if (embedder === undefined) return { why: nothingEmbeddedNote(semantic.status()) };
    if (embedder.language !== undefined && !isEnglish(text))
      return { why: keywordsOnlyNote("the embedding model knows English alone.") };
    const expanded = expandedQuery(text, view.index);
    const [read, again] = await Promise.all([
      this.#questions.read(text, embedder),
      expanded === undefined ? undefined : this.#questions.read(expanded, embedder),
    ]);
    if (read.kind === "missed")
      return { why: missedNote(read.code, { ...semantic.status(), isLocal: embedder.isLocal === true }) };
    const near = meantBy([read, again?.kind === "read" ? again : undefined], semantic, namespace, view);
    return {
      meant: embedder.language === undefined ? near : { ...near, knows: isEnglishDocument },
      why: coverageNote(semantic.coverage(namespace)),
    };
  }

  /** @param meant the similarities to the question and to its parts, as far as a model has read them */
  #answer(
    view: IndexView,
    asked: Asked,
    [meant, ...meantByParts]: readonly (PassageSimilarities | undefined)[],
    meaning?: ReadMeaning,
  ): RecallAnswer {
    const { index } = view;
    const { query, parts, limit, explain, recall } = asked;
    const { showsAll, possible = WEIGHTS.possible } = this.#options;
    const mode = meant === undefined ? "keyword" : "hybrid";
    const scored = this.#scored(query, index, meant);
    const excerpt = excerptFor(query, index);
    if (showsAll === true) {
      // By their odds alone, whatever the verdicts.
      const byOdds = bestPerDocument(scored.map((one) => ({ ...one, score: one.odds }))).slice(0, limit);
      const hits = byOdds.map((one) =>
        hitOf({ ...one, score: one.chance }, explain, excerpt(one.document, one.passage, "sure")),
      );
      return { results: hits, mode };
    }
    const foldsCopies = meant !== undefined;
    const wanted = { mode: recall, limit, possible, isDistinctive: isDistinctive(query), foldsCopies };
    // A line of a conversation leaves out what the lines around it say: only the whole question finds it.
    const scoredByParts = parts.map((part, place) =>
      this.#scored(part, index, meantByParts[place]).filter(({ features }) => !features.inThread),
    );
    const choice = selectHits(scored, index, wanted, scoredByParts);
    const { shown, leftOut } = this.#withToolCalls(choice, view, query, limit);
    const units = shown.map(({ unit }) => unit);
    index.related.relate(units, meaning);
    const most = shown.some(({ isSure }) => isSure) ? limit : Math.max(possible.most, shown.length);
    const answering = { limit: Math.min(limit, most), now: this.#options.now() };
    const results = withConflicts(shown, index, answering).map((one): RecallHit => {
      const found = hitOf(one, explain, excerpt(one.document, one.passage, one.isSure ? "sure" : "possible"));
      const conflictsWith = one.conflicts.map(({ key, updatedAt }) => ({ key, updatedAt }));
      const told = { ...found, ...(conflictsWith.length > 0 && { conflictsWith }) };
      return one.isSure ? told : { ...told, possible: true, why: whyPossible(one) };
    });
    const paths = new Set(results.map(({ path }) => path));
    const hidden = leftOut.filter(({ scored }) => !paths.has(scored.document.path));
    const leftOutOf = ({ scored: { document, chance, features }, why }: (typeof hidden)[number]) => {
      return { key: document.key, path: document.path, certainty: chance, why, parts: partsOf(features) };
    };
    const isForeign = results.length === 0 && areForeign(query.text, index);
    return {
      results,
      mode,
      ...(isForeign && { otherLanguage: true }),
      ...(explain && hidden.length > 0 && { leftOut: hidden.map(leftOutOf) }),
    };
  }

  #scored(query: Query, index: LexicalIndex, meant?: PassageSimilarities): readonly ScoredCandidate[] {
    const near = [...(meant?.nearness.keys() ?? [])];
    const candidates = this.#lexical.candidates(query, index, this.#options.now(), near);
    return scoreCandidates(query, candidates, meant, index);
  }

  #withToolCalls(choice: Selection, { index, toolCalls }: IndexView, query: Query, limit: number): Selection {
    const now = this.#options.now();
    const deed = parsePastActions(query.text, now);
    const about = deed === undefined ? query : readQuery(deed.about);
    const scored =
      toolCalls === undefined
        ? []
        : scoreCandidates(about, this.#lexical.candidates(about, toolCalls, now), undefined, toolCalls);
    const indexes = [index, toolCalls].filter((one) => one !== undefined);
    return withToolCalls(choice, { scored, deed, indexes, now }, limit);
  }
}

const englishDocuments = new WeakMap<IndexedDocument, boolean>();

function isEnglishDocument(document: IndexedDocument): boolean {
  const known = englishDocuments.get(document) ?? isEnglish(document.content);
  englishDocuments.set(document, known);
  return known;
}

/** So many documents tell the language of a memory. */
const LANGUAGE_SAMPLE = 50;

/** Whether a question is English and most documents are not, or the other way round. */
function areForeign(question: string, index: LexicalIndex): boolean {
  const sample = index.documents().take(LANGUAGE_SAMPLE).toArray();
  const isAsked = isEnglish(question);
  return sample.filter((document) => isEnglishDocument(document) !== isAsked).length * 2 > sample.length;
}

type Reading = Extract<ReadQuestion, { readonly kind: "read" }>;

/** Deviations by unit; of the question and its expanded form, the better one counts. Leaves out passages that are gone. */
function meantBy(
  [asked, expanded]: readonly [Reading, Reading | undefined],
  semantic: SemanticIndex,
  namespace: Namespace,
  { index }: IndexView,
): PassageSimilarities {
  const nearness = new Map<number, number>();
  const add = ({ question, scale }: Reading, doubt: number): void => {
    for (const { id, passage, similarity } of semantic.search(namespace, question, NEAREST)) {
      const unit = index.documentWith(id)?.units[passage];
      if (unit === undefined) continue;
      nearness.set(unit, Math.max(scale(similarity) - doubt, nearness.get(unit) ?? Number.NEGATIVE_INFINITY));
    }
  };
  add(asked, 0);
  if (expanded !== undefined) add(expanded, WEIGHTS.meaning.inOtherWords);
  const { embedded, total, refused } = semantic.coverage(namespace);
  return { nearness, passages: index.unitEnd, isWhole: embedded + refused >= total };
}

function hitOf(
  { document, score, features }: ScoredCandidate,
  explain: boolean,
  excerpt: Excerpt,
): RecallHit {
  const { kind, docid, path, title, category, key, createdAt, updatedAt, writer } = document;
  const expiresAt = document.expiresAt === Number.POSITIVE_INFINITY ? undefined : document.expiresAt;
  const found = { kind, docid, path, title, score, ...excerpt, category, key };
  const hit = { ...found, createdAt, updatedAt, ...defined({ expiresAt, writer }) };
  return explain ? { ...hit, parts: partsOf(features) } : hit;
}

/** Each feature with its weight; doubts have negative weights. */
function partsOf(features: Features): Readonly<Record<string, ScorePart>> {
  const { merit, lead, doubt } = features.inThread ? WEIGHTS.line : WEIGHTS.fact;
  const parts = [
    ...Object.entries({ ...merit, lead: lead.meaning }).map(([name, weight]) => [name, weight] as const),
    ...Object.entries(doubt).map(([name, weight]) => [name, -weight] as const),
    ...["isNamed", "isBeside"].map((name) => [name, 1] as const),
  ];
  const values: Readonly<Record<string, number | boolean>> = { ...features };
  return Object.fromEntries(parts.map(([name, weight]) => [name, { value: Number(values[name]), weight }]));
}
