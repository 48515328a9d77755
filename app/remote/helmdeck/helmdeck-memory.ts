/**
 * A memory in a running helmdeck (0.29): its facts and runs are read into a small cache and ranked by our own recall; writes go
 * through its REST API.
 *
 * helmdeck derives the memory from the agent's token. Nothing is queued: a call that cannot be completed fails at once. Features
 * that helmdeck lacks, such as history, are refused with an explanation.
 */

import type { RecallMode } from "../../../engine/answer-limits.ts";
import { defined } from "../../../engine/defined.ts";
import { HelmdeckError } from "../../../engine/errors.ts";
import { checkTags } from "../../../engine/facts/facts-policy.ts";
import { quotedKey } from "../../../engine/projections/frame.ts";
import { citedPath, isMyMemoryPath, parsePath } from "../../../engine/projections/paths.ts";
import type { MemoryStore, UnixMs } from "../../../engine/store/memory-store.ts";
import type { Subject } from "../../../engine/store/namespace.ts";
import { openStoreInMemory } from "../../../engine/store/sqlite/open-in-memory.ts";
import { type Timer, within } from "../../../engine/timing.ts";
import { composeMemory, type OpenMemory } from "../../compose.ts";
import { factsNamedBy } from "../../fact-view.ts";
import type { DocumentSlice, FactsQuery, Memory, SearchAnswer, UseCase } from "../../memory.ts";
import { requireQuery } from "../../searching.ts";
import { requireNamespace } from "../../subject.ts";
import { DEADLINES, EngineClient, type EngineClientOptions } from "../engine/engine-client.ts";
import { type RemoteMemory, remoteMemory } from "../remote-memory.ts";
import { examineHelmdeck } from "./examine-helmdeck.ts";
import { forgetAtHelmdeck } from "./forget-at-helmdeck.ts";
import { helmdeckStatus } from "./helmdeck-status.ts";
import { A_HELMDECK, extentText, notThere, partText } from "./helmdeck-texts.ts";
import { type Extent, KnownRows } from "./known-rows.ts";
import { lookUpKey } from "./look-up-key.ts";
import { QmdClient } from "./qmd-client.ts";
import { refuseSupersedes, revisionOf, storeAtHelmdeck } from "./store-at-helmdeck.ts";

export interface HelmdeckMemoryOptions extends Omit<EngineClientOptions, "server"> {
  /** Everyone with a token, for doctor. */
  readonly agents: readonly Subject[];
  /** For queries without a mode. Default `balanced`. */
  readonly recall?: RecallMode;
  /** The system's clock, in Unix milliseconds. */
  readonly now?: () => UnixMs;
  /** For background work. */
  readonly timer?: Timer;
  /** Limit of one response. */
  readonly mostBytes?: number;
  /** How long a search waits for fresh rows when some are cached. Default 1,500. */
  readonly liveMs?: number;
}

const LIVE_MS = 1_500;

/** Sends nothing before the first call. */
export async function openHelmdeckMemory(options: HelmdeckMemoryOptions): Promise<RemoteMemory> {
  const store = await openStoreInMemory(defined({ now: options.now }));
  return new HelmdeckMemory(options, store).asMemory();
}

class HelmdeckMemory {
  readonly #options: HelmdeckMemoryOptions;
  readonly #now: () => UnixMs;
  readonly #rest: EngineClient;
  readonly #qmd: QmdClient;
  /** Over the cached rows. */
  readonly #inner: OpenMemory;
  readonly #known = new Map<Subject, KnownRows>();
  readonly #failures = new Map<Subject, unknown>();

  constructor(options: HelmdeckMemoryOptions, store: MemoryStore) {
    const { now = Date.now, address, tokenOf, deadlines, recall } = options;
    this.#options = options;
    this.#now = now;
    this.#rest = new EngineClient({ ...options, server: A_HELMDECK });
    this.#qmd = new QmdClient({
      ...{ address, tokenOf, deadlineMs: deadlines?.readingMs ?? DEADLINES.readingMs },
      ...defined({ timer: options.timer, mostBytes: options.mostBytes }),
    });
    const nowhere = { databasePath: "", keyPath: "", keySource: "", driver: "helmdeck" };
    this.#inner = composeMemory({
      ...{ store, location: nowhere, key: { source: "", made: false } },
      ...{ sweepEveryMs: 0, ...defined({ recall }) },
    });
  }

  asMemory(): RemoteMemory {
    const { address, agents, tokenOf } = this.#options;
    const rest = this.#rest;
    const freshen = (agent: Subject) => this.#rowsOf(agent).freshen();
    const able: Partial<Memory> = {
      ...this.#reading(),
      ...this.#writing(),
      warm: async () => {}, // nothing is requested before somebody uses it
      sweep: async () => ({ deleted: 0, erased: "complete" }),
      status: (agent) =>
        helmdeckStatus(
          {
            ...{ rest, freshen, counts: async (of) => this.#countsOf(of) },
            lastFailure: this.#failures.values().next().value,
          },
          agent,
        ),
      doctor: () => examineHelmdeck({ rest, address, agents, tokenOf, freshen, now: this.#now() }),
      close: () => this.#close(),
    };
    return remoteMemory(able, {
      now: this.#now,
      refusal: (name) => notThere(rest.url, CANNOT[name ?? "other"] ?? CANNOT.other),
    });
  }

  #reading() {
    const inner = this.#inner;
    return {
      search: (agent, query) => this.#noting(agent, () => this.#search(agent, query)),
      getFact: (agent, input) =>
        this.#noting(agent, async () => {
          this.#refuseAsOf(input);
          await this.#lookUp(agent, input.key);
          const fact = await inner.getFact(agent, input);
          return fact && { ...fact, revision: revisionOf(fact) };
        }),
      listFacts: (agent, query) =>
        this.#noting(agent, async () => {
          const { tag, expiring, soonestFirst, pinned, asOf } = query;
          this.#refuseAsOf({ ...defined({ asOf }) });
          if (pinned === true) throw notThere(this.#rest.url, "has no pins");
          if (tag !== undefined && tag !== "") throw notThere(this.#rest.url, "does not return tags");
          if (expiring === true || soonestFirst === true)
            throw notThere(this.#rest.url, "does not report when facts expire");
          const known = this.#rowsOf(agent);
          const { isWhole } = await known.freshen();
          const filter = query.prefix ?? (query.category === undefined ? undefined : `${query.category})`);
          if (!isWhole && filter !== undefined && /^\S+$/.test(filter)) await known.lookFor(filter);
          const page = await inner.listFacts(agent, query);
          return { ...page, facts: page.facts.map((fact) => ({ ...fact, revision: revisionOf(fact) })) };
        }),
      readDocument: (agent, { renewOnUse: _, ...query }) =>
        this.#noting(agent, async () => {
          const place = typeof query.path === "string" ? parsePath(citedPath(query.path)) : undefined;
          if (place?.origin === "fact") await this.#requireShown(agent, place.key);
          else await this.#rowsOf(agent).freshen();
          const slice = await inner.readDocument(agent, query);
          return slice && isMyMemoryPath(query.path) ? this.#withExtent(agent, slice) : slice;
        }),
      myMemory: (agent) =>
        this.#noting(agent, async () => {
          const extent = await this.#rowsOf(agent).freshen();
          const summary = await inner.myMemory(agent);
          return { ...summary, scope: `caller=${extent.subject}`, note: this.#noteOf(extent) };
        }),
      listRuns: (agent, query) =>
        this.#noting(agent, async () => {
          await this.#rowsOf(agent).freshen();
          return inner.listRuns(agent, query);
        }),
      imports: async () => [],
      revision: (agent) => inner.revision(agent),
    } satisfies Partial<Memory>;
  }

  #writing() {
    const { url } = this.#rest;
    const checkFact: Memory["checkFact"] = async (agent, input) => {
      refuseSupersedes(url, input);
      await this.#rowsOf(agent).freshen();
      const { ifRevision: _, upTo: __, ...fact } = input;
      const { revision: ___, upTo: ____, ...checked } = await this.#inner.checkFact(agent, fact);
      const there = await this.#inner.getFact(agent, { key: checked.key });
      const revision = there?.key === checked.key ? revisionOf(there) : 0;
      return { ...checked, tags: checkTags(fact.tags), revision }; // helmdeck does not return tags
    };
    return {
      checkFact: (agent, fact) => this.#noting(agent, () => checkFact(agent, fact)),
      storeFact: (agent, fact) =>
        this.#noting(agent, () =>
          storeAtHelmdeck({ url, rest: this.#rest, known: this.#rowsOf(agent), checkFact }, agent, fact),
        ),
      forget: (agent, input) =>
        this.#noting(agent, () =>
          forgetAtHelmdeck({ url, rest: this.#rest, known: this.#rowsOf(agent) }, agent, input),
        ),
    } satisfies Partial<Memory>;
  }

  async #search(agent: Subject, query: Parameters<Memory["search"]>[1]): Promise<SearchAnswer> {
    const known = this.#rowsOf(agent);
    const asked = known.freshenFor(requireQuery(query).query);
    // When helmdeck is slow, older rows are better than none, and are marked as old.
    const extent =
      known.extent === undefined ? await asked : await within(this.#liveMs, asked, () => undefined);
    asked.catch(() => undefined);
    const answer = await this.#inner.search(agent, query);
    const reason = extent === undefined ? this.#slowText(known) : partText(extent, this.#now());
    return reason === undefined ? answer : { ...answer, reason, partial: true };
  }

  get #liveMs(): number {
    return this.#options.liveMs ?? LIVE_MS;
  }

  #slowText({ extent }: KnownRows): string {
    const known = extent === undefined ? "nothing yet" : extentText(extent, this.#now());
    return `helmdeck did not answer within ${this.#liveMs / 1_000} s, so only cached rows were searched: ${known}.`;
  }

  /** By key, path, docid or citation: refreshes the cached fact from helmdeck. */
  async #lookUp(agent: Subject, name: string): Promise<void> {
    for (const { key } of factsNamedBy(name)) if (await this.#requireShown(agent, key)) return;
  }

  /** Throws when helmdeck shows a hundred other rows instead. */
  async #requireShown(agent: Subject, key: string): Promise<boolean> {
    const { fact, isAll } = await lookUpKey(this.#rowsOf(agent), key);
    if (fact !== undefined || isAll) return fact !== undefined;
    if ((await this.#inner.getFact(agent, { key })) !== undefined) return true;
    throw new HelmdeckError(
      "not_found",
      `The helmdeck at ${this.#rest.url} shows only a hundred of the rows with the words of ${quotedKey(key)}, and this key is not among them. It may still exist there.`,
    );
  }

  #refuseAsOf({ asOf }: Pick<FactsQuery, "asOf">): void {
    if (asOf !== undefined) throw notThere(this.#rest.url, "keeps no history, so former values are gone");
  }

  #withExtent(agent: Subject, slice: DocumentSlice): DocumentSlice {
    const { extent } = this.#rowsOf(agent);
    return extent === undefined || slice.truncated
      ? slice
      : { ...slice, content: `${slice.content}\n\n${this.#noteOf(extent)}`, ...moreLines(slice, 2) };
  }

  #noteOf(extent: Extent): string {
    return `From helmdeck, which keeps this memory: ${extentText(extent, this.#now())}.`;
  }

  async #countsOf(agent: Subject): Promise<{ facts: number; auditRows: number }> {
    const { subject } = await this.#inner.status(agent);
    return { facts: subject?.facts ?? 0, auditRows: subject?.auditRows ?? 0 };
  }

  #rowsOf(agent: Subject): KnownRows {
    const known = this.#known.get(agent);
    if (known !== undefined) return known;
    const { store } = this.#inner;
    const parts = { agent, namespace: requireNamespace(agent), store, qmd: this.#qmd, rest: this.#rest };
    const made = new KnownRows({ ...parts, now: this.#now });
    this.#known.set(agent, made);
    return made;
  }

  /** Records the last failure of helmdeck or the connection, which health shows until the next use. */
  async #noting<T>(agent: Subject, work: () => Promise<T>): Promise<T> {
    try {
      const answer = await work();
      this.#failures.delete(agent);
      return answer;
    } catch (error) {
      if (error instanceof HelmdeckError && OF_THE_SOURCE.has(error.code)) this.#failures.set(agent, error);
      throw error;
    }
  }

  async #close(): Promise<void> {
    this.#qmd.close();
    this.#rest.close();
    await this.#inner.close();
  }
}

const OF_THE_SOURCE: ReadonlySet<HelmdeckError["code"]> = new Set([
  "engine_unavailable",
  "deadline_exceeded",
  "memory_unavailable",
  "entry_unreadable",
  "missing_bearer",
  "invalid_token",
  "forbidden",
  "rate_limited",
]);

const ITS_OWN = "records the runs of its packs itself, and no others";

/** Follows "it ". */
const CANNOT: Partial<Record<UseCase, string>> & { readonly other: string } = {
  storeFacts: "takes one fact at a time",
  factHistory: "keeps no history, so former values are gone",
  undoFact: "keeps no history, so nothing can be undone: store the former value again",
  renewFact: "cannot renew a fact: store it again for a new expiry",
  renewFacts: "cannot renew facts: store them again for a new expiry",
  pinFact: "has no pins: it does not show tags or expiry",
  review: "does not report where its facts come from, nor when they expire",
  keepApart: "has no marks: it does not show tags",
  growth: "does not say when facts were stored, so its growth is unknown",
  callers: "lists its callers only on its own pages",
  recordPackRun: ITS_OWN,
  recordPipelineRun: ITS_OWN,
  recordToolCall: ITS_OWN,
  other: "cannot do this",
};

function moreLines({ lineCount, totalLines }: DocumentSlice, count: number) {
  return { lineCount: lineCount + count, totalLines: totalLines + count };
}
