/** Recall over many namespaces: builds an index for each from its source, keeps it current, and answers queries. */
import { type CorpusEntry, HelmdeckError, type Namespace, type UnixMs } from "../engine/index.ts";
import { TextAnalyser } from "./analysis/terms-of-text.ts";
import type {
  CorpusChanges,
  CorpusSource,
  Recall,
  RecallAnswer,
  RecallHit,
  RecallQuery,
} from "./contract.ts";
import type { Evidence } from "./lexical/judgement.ts";
import { LexicalIndex } from "./lexical/lexical-index.ts";
import { LexicalSearch, type Match } from "./lexical/search.ts";
import { DEFAULT_RANKING, type Ranking } from "./ranking.ts";

export interface RecallOptions {
  readonly source: CorpusSource;
  readonly now: () => UnixMs;
  /** Namespaces whose index is kept in memory; the least recently used one is dropped. Default 16. */
  readonly maxNamespaces?: number;
  /** Rows asked of the source at a time. Default 250. */
  readonly batchSize?: number;
  /** A search waits this long for a first build before it answers from what is indexed. Default 1,000. */
  readonly patienceMs?: number;
  readonly ranking?: Partial<Ranking>;
}

const MOST_NAMESPACES = 16;
const BATCH_ROWS = 250;
const PATIENCE_MS = 1_000;
const DEFAULT_LIMIT = 10;
const MOST_HITS = 50;
/** Longest stretch of indexing between two turns of the event loop. */
const SLICE_MS = 4;

const STILL_INDEXING = "Still indexing this memory: more may be found in a moment.";

/** Keyword recall over a corpus source. Errors of the source reach the caller of the search that met them. */
export function createRecall(options: RecallOptions): Recall {
  const shelf = new Shelf(options);
  const lexical = new LexicalSearch();
  const ranking: Ranking = { ...DEFAULT_RANKING, ...options.ranking };

  return {
    search(
      namespace: Namespace,
      { query, limit = DEFAULT_LIMIT, explain = false }: RecallQuery,
    ): Promise<RecallAnswer> {
      return shelf.use(namespace, async (desk) => {
        const isComplete = await desk.catchUpWithin(options.patienceMs ?? PATIENCE_MS);
        const matches = lexical.search(query, desk.index, {
          limit: Math.min(MOST_HITS, Math.max(1, Math.trunc(limit))),
          now: options.now(),
          ranking,
        });
        const results = matches.map((match) => hitOf(match, explain));
        return { results, mode: "keyword", ...(isComplete ? {} : { reason: STILL_INDEXING }) };
      });
    },
    warm: (namespace: Namespace): Promise<void> => shelf.use(namespace, (desk) => desk.catchUp()),
    close: () => shelf.close(),
  };
}

/** The namespaces whose index is in memory, least recently used first. */
class Shelf {
  readonly #options: RecallOptions;
  readonly #desks = new Map<Namespace, Desk>();
  #isClosed = false;

  constructor(options: RecallOptions) {
    this.#options = options;
  }

  /** What is in use is not dropped, so that no search sees its index vanish. */
  async use<T>(namespace: Namespace, work: (desk: Desk) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closedError();
    const desk = this.#desks.get(namespace) ?? new Desk(namespace, this.#options);
    this.#desks.delete(namespace);
    this.#desks.set(namespace, desk);
    desk.users += 1;
    try {
      return await work(desk);
    } finally {
      desk.users -= 1;
      this.#dropOldest();
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const desk of this.#desks.values()) desk.drop();
    this.#desks.clear();
  }

  #dropOldest(): void {
    for (const [namespace, desk] of this.#desks) {
      if (this.#desks.size <= (this.#options.maxNamespaces ?? MOST_NAMESPACES)) return;
      if (desk.users > 0) continue;
      desk.drop();
      this.#desks.delete(namespace);
    }
  }
}

function hitOf({ document, passage, score, evidence }: Match, explain: boolean): RecallHit {
  const { docid, path, title, category, key, updatedAt } = document;
  const snippet = document.content.slice(passage.start, passage.end);
  const { startLine, endLine } = passage;
  const hit = { docid, path, title, score, snippet, startLine, endLine, category, key, updatedAt };
  return explain ? { ...hit, parts: partsOf(evidence) } : hit;
}

/** Shares and counts; 1 for what is so. */
function partsOf({ inThread, isNamed, ...numbers }: Evidence): Readonly<Record<string, number>> {
  return { ...numbers, inThread: inThread ? 1 : 0, isNamed: isNamed ? 1 : 0 };
}

/** One namespace's index and how far it has read its source. */
class Desk {
  index = new LexicalIndex();
  /** Calls that are using it now. */
  users = 0;
  readonly #namespace: Namespace;
  readonly #options: RecallOptions;
  #cursor = 0;
  #dropped = false;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(namespace: Namespace, options: RecallOptions) {
    this.#namespace = namespace;
    this.#options = options;
  }

  /**
   * Reads the source to its end, so that everything written before the call is seen. Calls made while one is under way
   * share the next one: what was written meanwhile may lie before the place it has read to.
   */
  catchUp(): Promise<void> {
    if (this.#running === undefined) return this.#start();
    this.#next ??= this.#running.then(
      () => this.#start(),
      () => this.#start(),
    );
    return this.#next;
  }

  #start(): Promise<void> {
    this.#next = undefined;
    const running = this.#readAll().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  /** False when the index is still incomplete after the given time; reading goes on in the background. */
  async catchUpWithin(patienceMs: number): Promise<boolean> {
    const reading = this.catchUp().then(() => true);
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, patienceMs, false);
    });
    try {
      return await Promise.race([reading, patience]);
    } finally {
      clearTimeout(timer);
      reading.catch(() => undefined); // after the patience ran out, the next search meets the error again
    }
  }

  drop(): void {
    this.#dropped = true;
    this.index = new LexicalIndex();
  }

  async #readAll(): Promise<void> {
    const limit = this.#options.batchSize ?? BATCH_ROWS;
    const analyser = new TextAnalyser();
    let startedOver = false;
    for (let more = true; more; ) {
      const page = await this.#options.source.changes(this.#namespace, this.#cursor, limit);
      if (this.#dropped) throw closedError();
      if (page.kind === "changes") {
        await this.#apply(page, analyser);
        more = page.more;
        continue;
      }
      if (startedOver) throw new HelmdeckError("internal", "The corpus source asked twice to start over.");
      startedOver = true;
      this.index = new LexicalIndex();
      this.#cursor = 0;
    }
  }

  async #apply({ upserts, removed, cursor, more }: ChangesPage, analyser: TextAnalyser): Promise<void> {
    if (more && cursor <= this.#cursor) {
      throw new HelmdeckError("internal", "The corpus source says that there is more, but does not go on.");
    }
    for (const id of removed) this.index.remove(id);
    if (more) await nextTurn();
    await this.#addAll(upserts, analyser);
    this.#cursor = cursor;
  }

  async #addAll(entries: readonly CorpusEntry[], analyser: TextAnalyser): Promise<void> {
    let sliceStart = performance.now();
    for (const entry of entries) {
      if (this.#dropped) throw closedError();
      this.index.add(entry, analyser);
      if (performance.now() - sliceStart < SLICE_MS) continue;
      await nextTurn();
      sliceStart = performance.now();
    }
  }
}

type ChangesPage = Extract<CorpusChanges, { readonly kind: "changes" }>;

function closedError(): HelmdeckError {
  return new HelmdeckError("store_unavailable", "Recall is closed: open memory again.");
}

/** Lets everything else that waits in the event loop run. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
