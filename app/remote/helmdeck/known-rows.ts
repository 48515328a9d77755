/**
 * A small cache of one agent's memory in a running helmdeck: facts and runs as entries of an in-memory store, so that all other
 * code reads and ranks them as usual.
 *
 * helmdeck returns at most a hundred rows per query, without pages and times. So the newest hundred facts, and the newest hundred
 * of each known category, are requested once a minute, only while somebody uses them, and with each question also the rows with
 * its words. Cached rows that a response should contain but does not are removed, unless a later question has shown them.
 */
import type * as z from "zod";
import { type AuditRow, auditEntry, checkAuditRow } from "../../../engine/audit/audit-entries.ts";
import { AUDIT_CATEGORIES } from "../../../engine/audit/audit-keys.ts";
import { DEFAULT_CATEGORY } from "../../../engine/facts/facts-policy.ts";
import { placeholderTime } from "../../../engine/rfc3339.ts";
import type { MemoryStore, NewEntry, UnixMs } from "../../../engine/store/memory-store.ts";
import type { Namespace, Subject } from "../../../engine/store/namespace.ts";
import { substringsOf } from "../../../recall/analysis/query.ts";
import type { HeldRows } from "../../memory.ts";
import type { FromWire } from "../../wire/codec.ts";
import type { EngineClient } from "../engine/engine-client.ts";
import { type Chunk, factOf, type HelmdeckFact, keyOfChunk } from "./helmdeck-chunks.ts";
import { CALLERS, DEFAULTS } from "./helmdeck-rest.ts";
import { MOST_CHUNKS, type QmdClient } from "./qmd-client.ts";

interface KnownRowsParts {
  readonly agent: Subject;
  readonly namespace: Namespace;
  readonly store: MemoryStore;
  readonly qmd: Pick<QmdClient, "query">;
  readonly rest: Pick<EngineClient, "call">;
  readonly now: () => UnixMs;
}

/** How much of a memory is known, the age of that, and the owner according to helmdeck. */
export interface Extent extends HeldRows {
  readonly subject: string;
}

const POLLED_EVERY_MS = 60_000;
const MOST_CATEGORIES = 12;
const MOST_WORDS = 6;
/** In the middle of the range, so that older facts can be added after newer ones. */
const FIRST_PLACE = 40_000_000;
/** Matches facts only. */
const FACTS = "(category:";

interface Matches {
  readonly facts: readonly HelmdeckFact[];
  /** Also keys of other rows, such as cached answers; runs do not show theirs. */
  readonly keys: readonly string[];
  readonly isAll: boolean;
}

type Defaults = FromWire<z.infer<typeof DEFAULTS.answers>>;
type Run = Defaults["recent"][number];

export class KnownRows {
  readonly #parts: KnownRowsParts;
  readonly #facts = new Map<string, HelmdeckFact>();
  readonly #others = new Set<string>();
  readonly #categories = new Set<string>([DEFAULT_CATEGORY]);
  #newest = FIRST_PLACE;
  #oldest = FIRST_PLACE;
  #runs: readonly string[] = [];
  #leftOut = 0;
  #last: Omit<Extent, "rows" | "leftOut"> | undefined;
  #polling: Promise<void> | undefined;
  #listing: Promise<boolean> | undefined;
  #nextListing: Promise<boolean> | undefined;
  readonly #order = new QuestionOrder();
  /** The store changes in the order of the answers. */
  #lastChange: Promise<void> = Promise.resolve();

  constructor(parts: KnownRowsParts) {
    this.#parts = parts;
  }

  /** Undefined before the first response. */
  get extent(): Extent | undefined {
    return (
      this.#last && { ...this.#last, rows: this.#facts.size + this.#others.size, leftOut: this.#leftOut }
    );
  }

  /** At most a minute old afterwards. */
  async freshen(): Promise<Extent> {
    const last = this.#last;
    const age = last === undefined ? POLLED_EVERY_MS : this.#parts.now() - last.readAt;
    if (age >= POLLED_EVERY_MS || age < 0) await this.#pollOnce();
    return this.#requireExtent();
  }

  /** Also finds recent rows with words of the question. */
  async freshenFor(question: string): Promise<Extent> {
    const before = this.#last;
    const extent = await this.freshen();
    if (extent.isWhole && before === this.#last && !(await this.#readAll())) await this.#pollOnce();
    if (!this.#requireExtent().isWhole)
      await Promise.all(substringsOf(question, MOST_WORDS).map((word) => this.lookFor(word)));
    return this.#requireExtent();
  }

  /** Rows with this word, which has no space, newest first. */
  lookFor(word: string): Promise<Matches> {
    return this.#order.asking(async (asked) => {
      const chunks = await this.#query(word);
      const facts = this.#factsOf(chunks);
      const isAll = chunks.length < MOST_CHUNKS;
      const shown = new Set(facts.map(({ docid }) => docid));
      const text = word.toLowerCase();
      const gone = isAll
        ? [...this.#facts.values()].filter((fact) => fact.text.includes(text) && !shown.has(fact.docid))
        : [];
      await this.#change(asked, facts, gone);
      return { facts, keys: chunks.map(keyOfChunk).filter((key) => key !== undefined), isAll };
    });
  }

  async #pollOnce(): Promise<void> {
    this.#polling ??= this.#order
      .asking((asked) => this.#poll(asked))
      .finally(() => {
        this.#polling = undefined;
      });
    await this.#polling;
  }

  async #poll(asked: number): Promise<void> {
    const { agent, rest, now } = this.#parts;
    const readAt = now();
    const [all, { scope, recent }, { callers }] = await Promise.all([
      this.#query(""),
      rest.call(agent, DEFAULTS),
      rest.call(agent, CALLERS),
    ]);
    const isWhole = all.length < MOST_CHUNKS;
    const chunks = isWhole ? all : [...(await this.#newestFacts()), ...all];
    this.#leftOut = 0;
    this.#others.clear();
    const facts = this.#factsOf(chunks);
    const subject = scope.replace(/^caller=/, "");
    const of = callers?.find(({ namespace }) => namespace === subject)?.count ?? 0;
    await this.#settle(asked, facts);
    await this.#keepRuns(recent);
    this.#last = { of, isWhole, readAt, subject };
  }

  /** The newest of all facts, and of each category. */
  async #newestFacts(): Promise<readonly Chunk[]> {
    const endings = [...this.#categories].map((category) => `${category.split(/\s+/).at(-1) ?? ""})`);
    const lists = await Promise.all([FACTS, ...new Set(endings)].map((filter) => this.#query(filter)));
    return lists.flat();
  }

  /**
   * False when there is more than helmdeck shows. One list at a time: who asks during one shares the next, because that one may be
   * older than a fact that they know of.
   */
  #readAll(): Promise<boolean> {
    this.#nextListing ??= this.#afterListing();
    return this.#nextListing;
  }

  async #afterListing(): Promise<boolean> {
    await this.#listing?.catch(() => undefined);
    this.#listing = this.#order.asking((asked) => this.#list(asked));
    this.#nextListing = undefined;
    return this.#listing;
  }

  async #list(asked: number): Promise<boolean> {
    const chunks = await this.#query("");
    if (chunks.length >= MOST_CHUNKS) return false;
    await this.#settle(asked, this.#factsOf(chunks));
    return true;
  }

  #query(text: string): Promise<readonly Chunk[]> {
    return this.#parts.qmd.query(this.#parts.agent, text);
  }

  #factsOf(chunks: readonly Chunk[]): readonly HelmdeckFact[] {
    const facts = new Map<string, HelmdeckFact>();
    const odd = new Set<string>();
    for (const chunk of chunks) {
      const fact = factOf(chunk);
      if (typeof fact === "object") facts.set(fact.key, fact);
      else this.#others.add(chunk.docid);
      if (fact === "odd") odd.add(chunk.docid);
    }
    this.#leftOut = Math.max(this.#leftOut, odd.size);
    for (const { itsCategory } of facts.values())
      if (this.#categories.size < MOST_CATEGORIES) this.#categories.add(itsCategory);
    return [...facts.values()];
  }

  /** Replaces the cache by these. */
  async #settle(asked: number, facts: readonly HelmdeckFact[]): Promise<void> {
    const shown = new Set(facts.map(({ key }) => key));
    const gone = [...this.#facts.values()].filter(({ key }) => !shown.has(key));
    await this.#change(asked, facts, gone);
  }

  /** `facts`: newest first. */
  async #change(
    asked: number,
    shown: readonly HelmdeckFact[],
    missing: readonly HelmdeckFact[],
  ): Promise<void> {
    const { store, namespace } = this.#parts;
    const facts = this.#order.newsOf(asked, shown);
    const gone = this.#order.newsOf(asked, missing);
    for (const { key } of gone) this.#facts.delete(key);
    const entries = this.#placed(facts).filter((entry) => entry !== undefined);
    const change = this.#lastChange.then(async () => {
      for (const { key } of gone) await store.delete({ namespace, origin: "fact", key });
      await store.putMany(entries);
    });
    this.#lastChange = change.catch(() => undefined);
    await change;
  }

  /** New and changed ones get a position in the order, before the previous ones. */
  #placed(facts: readonly HelmdeckFact[]): readonly (NewEntry | undefined)[] {
    let isAfterKnown = this.#facts.size === 0;
    return facts.toReversed().map((fact) => {
      const before = this.#facts.get(fact.key);
      isAfterKnown ||= before !== undefined;
      if (before?.text === fact.text && before.value === fact.value && before.docid === fact.docid)
        return undefined;
      this.#facts.set(fact.key, fact);
      const { key, value, category, tags } = fact;
      const place = isAfterKnown ? this.#nextPlace() : this.#placeBefore();
      const { namespace } = this.#parts;
      const at = placeholderTime(place);
      return {
        namespace,
        origin: "fact",
        key,
        value: Buffer.from(value),
        category,
        tags,
        createdAt: at,
        updatedAt: at,
      };
    });
  }

  #nextPlace(): number {
    this.#newest += 1;
    return this.#newest;
  }

  #placeBefore(): number {
    this.#oldest -= 1;
    return this.#oldest;
  }

  async #keepRuns(runs: readonly Run[]): Promise<void> {
    const { store, namespace } = this.#parts;
    const entries = runs.flatMap((run) => runEntry(namespace, run));
    const keys = entries.map(({ key }) => key);
    const known = new Set(this.#runs);
    const kept = new Set(keys);
    for (const key of this.#runs) if (!kept.has(key)) await store.delete({ namespace, origin: "audit", key });
    const added = entries.filter(({ key }) => !known.has(key));
    if (added.length > 0) await store.putMany(added);
    this.#runs = keys;
    for (const { kind, key } of runs) this.#others.add(`${AUDIT_CATEGORIES[kind]}/${key}`);
  }

  #requireExtent(): Extent {
    const { extent } = this;
    if (extent === undefined) throw new Error("nothing was read yet");
    return extent;
  }
}

/** None for a run that is invalid here. */
function runEntry(
  namespace: Namespace,
  { kind, key, id, outcome, atUnix, durationMs, learnInputs }: Run,
): NewEntry[] {
  const row = {
    outcome,
    at_unix: atUnix,
    ...(durationMs !== undefined && { duration_ms: durationMs }),
    ...(learnInputs !== undefined && { learn_inputs: learnInputs }),
  };
  try {
    const audit: AuditRow = checkAuditRow(
      kind,
      kind === "pack" ? { pack: id, ...row } : { pipeline: id, run_id: RUN_ID_NOT_TOLD, ...row },
    );
    const at = atUnix * 1_000;
    return [{ ...auditEntry(namespace, audit, at, { createdAt: at, updatedAt: at }), key }];
  } catch {
    return [];
  }
}

/** helmdeck's list of runs does not contain it. */
const RUN_ID_NOT_TOLD = "not-told";

class QuestionOrder {
  #asked = 0;
  readonly #unanswered = new Set<number>();
  /** By key: the last question whose answer told of it; kept while any question is unanswered. */
  readonly #toldBy = new Map<string, number>();

  /** Gives `work`, which asks and takes in the answer, its place in the order. */
  async asking<T>(work: (asked: number) => Promise<T>): Promise<T> {
    this.#asked += 1;
    const asked = this.#asked;
    this.#unanswered.add(asked);
    try {
      return await work(asked);
    } finally {
      this.#unanswered.delete(asked);
      if (this.#unanswered.size === 0) this.#toldBy.clear();
    }
  }

  /** Those of which no later question was told. */
  newsOf<T extends { readonly key: string }>(asked: number, told: readonly T[]): readonly T[] {
    const news = told.filter(({ key }) => (this.#toldBy.get(key) ?? 0) <= asked);
    for (const { key } of news) this.#toldBy.set(key, asked);
    return news;
  }
}
