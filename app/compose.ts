/** The use cases over one open store; every surface calls them, in process or through the worker. */

import type { RecallMode } from "../engine/answer-limits.ts";
import { RunClock } from "../engine/audit/audit-keys.ts";
import { defined } from "../engine/defined.ts";
import { FACT_LIMITS } from "../engine/facts/facts-policy.ts";
import type { InspectOptions, MemoryStore, StoreGauges, UnixMs } from "../engine/store/memory-store.ts";
import type { Namespace, Subject } from "../engine/store/namespace.ts";
import type { Writer } from "../engine/store/writer.ts";
import { processTimer, type Timer } from "../engine/timing.ts";
import manifest from "../package.json" with { type: "json" };
import type { IndexLimits } from "../recall/index-cache.ts";
import { createRecall } from "../recall/recall.ts";
import type { IndexCounts, RecallQuery } from "../recall/search-contract.ts";
import { getFactAsOf, listFactsAsOf } from "./as-of.ts";
import { corpusPage, recallOverStore } from "./corpus-pages.ts";
import { readDocument } from "./documents.ts";
import type { ModelPlace } from "./embedding/built-in-embedder.ts";
import { ChangeWatch } from "./embedding/change-watch.ts";
import { type EmbeddingSettings, NO_EMBEDDINGS } from "./embedding/embedding-settings.ts";
import {
  EmbeddingOnRequest,
  type EmbedReport,
  type EmbedRequest,
  waitForVectors,
} from "./embedding/on-request.ts";
import { type Embeddings, embeddingsFinding, openEmbeddings } from "./embedding/open-embeddings.ts";
import { FactBatches } from "./fact-batches.ts";
import { checkFact, getFact, listFacts, renewFact, storeFact, storeFactAllowingSecret } from "./facts.ts";
import { forget } from "./forgetting.ts";
import { GrowthCounts } from "./growth.ts";
import { examineOpenMemory, type KeyFacts } from "./health/examine-memory.ts";
import { factHistory, undoFact } from "./history.ts";
import type { Opened } from "./keys/store-notes.ts";
import { KeysInUse } from "./keys-in-use.ts";
import type {
  Asker,
  DoctorReport,
  EmbeddingsStatus,
  FactInput,
  Memory,
  MemoryStatus,
  StoredFact,
} from "./memory.ts";
import {
  callersOf,
  failedStatus,
  myDefaults,
  myMemory,
  type OpenedStorage,
  subjectCounts,
  type TotalUsage,
  tellEnding,
  totalUsage,
} from "./overview.ts";
import { PinnedKeys } from "./pinned-keys.ts";
import { pinFact } from "./pins.ts";
import { renewFacts } from "./renew-facts.ts";
import { keepApart, Reviews } from "./review.ts";
import { listRuns, recordPackRun, recordPipelineRun, recordToolCall } from "./runs.ts";
import { search } from "./searching.ts";
import { requireNamespace } from "./subject.ts";
import { Sweeper } from "./sweeper.ts";
import { ToolHistory } from "./tool-history.ts";
import { exportPage } from "./transfer/export-lines.ts";
import { listImports } from "./transfer/list-imports.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** A memory as commands use it, wherever it is kept. */
export interface CommandMemory extends Memory {
  readonly now: () => UnixMs;
  /** Where the key is, if this opening created it: no backup has it yet. */
  readonly newKey?: string;
  /** For a person: there is no memory yet, or another one than before. */
  readonly notice?: string;
  /** Reports progress. Checks everything if the process serves nobody else. */
  doctor(options?: InspectOptions): Promise<DoctorReport>;
  /**
   * Like `storeFact`, but also accepts text that looks like a credential: for a person at a command line, never behind a tool or
   * a port.
   */
  storeFactAllowingSecret(subject: Subject, fact: FactInput, writer?: Asker): Promise<StoredFact>;
  /**
   * Embeds the subject's entries without vectors now, for a command, which has no background work. Does nothing without a
   * service. Service failures are in the report.
   */
  embed(subject: Subject, request: EmbedRequest): Promise<EmbedReport>;
  /** The same for one fact that was just stored. */
  embedFact(subject: Subject, key: string, request: EmbedRequest): Promise<void>;
}

/** An open memory in this process, including its store for import and export. */
export interface OpenMemory extends CommandMemory {
  readonly store: MemoryStore;
  /** The life of a fact whose writer names none. */
  readonly defaultTtlSeconds: number;
  /** Absent if the store tells of no changes: then only `revision` does. Some changes may be missed. The answer ends it. */
  readonly watch?: WatchOf<Subject>;
  /** Counts for operators, without subjects. Never throws. */
  gauges(): Promise<MemoryGauges>;
}

export interface MemoryGauges extends StoreGauges {
  readonly indexes: IndexCounts;
  /** Absent while the store does not answer. */
  readonly usage?: TotalUsage;
}

type WatchOf<Whose> = (whose: Whose, listener: () => void) => () => void;

/** `location`, `key` and `notes` may change when the store is opened again. */
export interface Composition {
  readonly store: MemoryStore;
  /** Absent: the store is open. */
  readonly hasOpened?: () => boolean;
  readonly location: OpenedStorage & { readonly keyPath: string };
  /** Called for each status; absent: the opener knows. */
  readonly isWritable?: () => Promise<boolean>;
  /** Calls back soon after another process's change, if the store can; some changes may be missed. */
  readonly watch?: WatchOf<Namespace>;
  readonly key: KeyFacts;
  /** Absent when no notes are kept beside a key. */
  readonly notes?: Opened | undefined;
  /** From 0 up to, but not including, 1. */
  readonly random?: () => number;
  /** 0: never. */
  readonly sweepEveryMs: number;
  readonly timer?: Timer;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
  /** The life of a fact whose writer names none. Default: 90 days. */
  readonly defaultTtlSeconds?: number;
  /** Which indexes are kept in memory. */
  readonly indexes?: IndexLimits;
  /** Default: none. */
  readonly embeddings?: EmbeddingSettings;
  /** Where the built-in model is; absent: nowhere. */
  readonly builtIn?: ModelPlace;
  /** False in a short-lived process, which uses existing vectors only. Default true. */
  readonly embedsEntries?: boolean;
  /** False for a read-only store: nothing is embedded whose vectors could not be stored. Default true. */
  readonly keepsVectors?: boolean;
  /** For queries without a mode. Default `balanced`. */
  readonly recall?: RecallMode;
  /** How long a search waits for its question's vector, and a status for the service. Default 1.5 seconds. */
  readonly questionBudgetMs?: number;
}

/** Takes ownership of the store: `close` closes it. */
export function composeMemory(parts: Composition): OpenMemory {
  const { store, timer, embedsEntries = true, keepsVectors = true } = parts;
  const now = (): UnixMs => store.now();
  const embeddings = openEmbeddings({ ...parts, settings: parts.embeddings ?? NO_EMBEDDINGS, embedsEntries });
  const semantic = embeddings.active?.index;
  const { defaultTtlSeconds = FACT_LIMITS.defaultTtlSeconds } = parts;
  const context: UseCaseContext = {
    store,
    defaultTtlSeconds,
    keys: new KeysInUse(store),
    pinned: new PinnedKeys(store),
    now,
    recall: createRecall({
      source: recallOverStore(store),
      now,
      snapshots: { kept: () => store.snapshots, version: manifest.version },
      ...defined({ timer, clock: parts.clock, limits: parts.indexes, mode: parts.recall }),
      ...defined({ questionBudgetMs: embeddings.patienceMs }),
      ...(embeddings.active && {
        semantic: embeddings.active.index,
        references: embeddings.active.references,
      }),
      ...defined({ keywordsOnly: problemOf(embeddings.status()) }),
    }),
    runClock: new RunClock(now, parts.random ?? Math.random),
    toolHistory: new ToolHistory(store),
    timer: timer ?? processTimer,
  };
  const batches = new FactBatches(context, parts.clock);
  const growth = new GrowthCounts(context);
  const reviews = new Reviews(context);
  const sweep = () => store.deleteExpired();
  const sweeper = new Sweeper({
    sweep: async () => parts.hasOpened?.() !== false && sweep(),
    everyMs: parts.sweepEveryMs,
    ...defined({ timer }),
  });
  // New entries are embedded now, not when somebody searches.
  const embedSoon = (namespace: Namespace): void => {
    if (semantic === undefined || !embedsEntries) return;
    watch?.follow(namespace);
    context.recall.warm(namespace).catch(() => undefined);
  };
  const watch =
    semantic === undefined || !embedsEntries
      ? undefined
      : new ChangeWatch({
          revision: (namespace) => store.revision(namespace),
          onChange: embedSoon,
          ...defined({ timer, watch: parts.watch }),
        });
  const onRequest = new EmbeddingOnRequest(context, keepsVectors ? embeddings.active : undefined, timer);
  const follow = (namespace: Namespace): void => watch?.follow(namespace);
  const warm = async (namespace: Namespace): Promise<void> => {
    if (!embedsEntries) embeddings.prepare(); // a command asks at once
    await context.recall.warm(namespace);
    if (embedsEntries) await context.pinned.of(namespace); // for the first prompt; a command has none
    follow(namespace);
    if (!embedsEntries) await waitForVectors(semantic, namespace, parts.questionBudgetMs, timer);
    else if (semantic !== undefined && semantic.coverage(namespace).total > 0) embeddings.prepare();
  };
  let closing: Promise<void> | undefined;
  return {
    store,
    now,
    defaultTtlSeconds,
    ...(parts.key.made && { newKey: parts.key.source }),
    storeFact: inNamespace((...asked) => {
      embeddings.prepare();
      return storeFact(context, ...asked);
    }, embedSoon),
    storeFacts: inNamespace((...asked) => {
      embeddings.prepare();
      return batches.store(...asked);
    }, embedSoon),
    storeFactAllowingSecret: inNamespace((...asked) => {
      embeddings.prepare();
      return storeFactAllowingSecret(context, ...asked);
    }, embedSoon),
    checkFact: inNamespace((namespace, input) => checkFact(context, namespace, input)),
    getFact: inNamespace((namespace, { key, asOf }) =>
      asOf === undefined
        ? getFact(context, namespace, { key })
        : getFactAsOf(context, namespace, { key, asOf }),
    ),
    listFacts: inNamespace((namespace, { asOf, ...query }) =>
      asOf === undefined
        ? listFacts(context, namespace, query)
        : listFactsAsOf(context, namespace, { ...query, asOf }),
    ),
    factHistory: inNamespace((namespace, input) => factHistory(context, namespace, input)),
    undoFact: inNamespace((namespace, input) => undoFact(context, namespace, input), embedSoon),
    renewFact: inNamespace((...asked) => renewFact(context, ...asked)),
    renewFacts: inNamespace((...asked) => renewFacts(context, ...asked)),
    pinFact: inNamespace((...asked) => pinFact(context, ...asked)),
    review: inNamespace((namespace, query) => reviews.of(namespace, query)),
    keepApart: inNamespace((namespace, input) => keepApart(context, namespace, input)),
    search: inNamespace((namespace, query: RecallQuery) => search(context, namespace, query), follow),
    readDocument: inNamespace((namespace, query) => readDocument(context, namespace, query)),
    forget: inNamespace((namespace, input) => forget(context, namespace, input)),
    exportPage: inNamespace((namespace, query) => exportPage(store, namespace, query)),
    myMemory: async (subject) => myMemory(context, requireNamespace(subject), subject),
    tellEnding: async (subject) => tellEnding(context, requireNamespace(subject)),
    defaults: async (subject) => myDefaults(context, requireNamespace(subject), subject),
    corpusPage: inNamespace((namespace, query) => corpusPage(context, namespace, query)),
    listRuns: inNamespace((namespace, query) => listRuns(context, namespace, query)),
    growth: async (subject) => growth.of(requireNamespace(subject)),
    imports: async (subject) => listImports(context, requireNamespace(subject)),
    callers: (...asked) => callersOf(context, ...asked),
    revision: async (subject) => store.revision(requireNamespace(subject)),
    ...watchOf(parts),
    recordPackRun: inNamespace((...run) => recordPackRun(context, ...run), embedSoon),
    recordPipelineRun: inNamespace((...run) => recordPipelineRun(context, ...run), embedSoon),
    recordToolCall: inNamespace((...call) => recordToolCall(context, ...call)), // records are not embedded
    warm: async (subject) => warm(requireNamespace(subject)),
    embed: inNamespace((namespace, request: EmbedRequest) => onRequest.all(namespace, request)),
    embedFact: async (subject, key, request) => onRequest.fact(requireNamespace(subject), key, request),
    sweep,
    gauges: async () => {
      const usage = await totalUsage(
        { callers: (...asked) => callersOf(context, ...asked) },
        store.gauges.quota,
      ).catch(() => undefined);
      return { ...store.gauges, indexes: context.recall.indexes, ...defined({ usage }) };
    },
    status: async (subject) => {
      // A command has no index yet and has asked the service nothing; a gateway must not wait.
      if (semantic !== undefined && !embedsEntries && subject !== undefined) {
        const warmed = warm(requireNamespace(subject)).catch(() => {}); // the status itself reports the problem
        await Promise.all([warmed, embeddings.ask()]);
      }
      return statusOf(context, parts, embeddings, subject);
    },
    doctor: async (options) => {
      const facts = { ...parts, sweepFailure: sweeper.failure };
      const { findings, ...report } = await examineOpenMemory(facts, options);
      return { ...report, findings: [...findings, await embeddingsFinding(embeddings, context, warm)] };
    },
    close: () => {
      watch?.close();
      closing ??= closeAll(context, sweeper, embeddings);
      return closing;
    },
  };
}

function watchOf({ watch }: Composition): Pick<OpenMemory, "watch"> {
  return watch === undefined
    ? {}
    : { watch: (subject, listener) => watch(requireNamespace(subject), listener) };
}

/** Each use case gets its caller's namespace, and no other way to find entries. */
function inNamespace<Input, Answer, More = Writer>(
  useCase: (namespace: Namespace, input: Input, more?: More) => Promise<Answer>,
  afterwards: (namespace: Namespace) => void = () => {},
): (subject: Subject, input: Input, more?: More) => Promise<Answer> {
  return async (subject, input, more) => {
    const namespace = requireNamespace(subject);
    const answer = await useCase(namespace, input, more);
    afterwards(namespace);
    return answer;
  };
}

function problemOf(status: EmbeddingsStatus): string | undefined {
  return status.provider === "unusable" ? status.problem : undefined;
}

async function statusOf(
  context: UseCaseContext,
  { location: place, isWritable }: Composition,
  embeddings: Embeddings,
  subject: Subject | undefined,
): Promise<MemoryStatus> {
  const { keyPath: _, ...location } = place;
  try {
    // Queries the store even without a subject, because a status must show whether memory works now.
    const name = subject === undefined ? "" : subject;
    const counts = await subjectCounts(context, requireNamespace(name), name);
    const isReadOnly = isWritable !== undefined && !(await isWritable());
    return {
      state: "ready",
      ...location,
      ...(isReadOnly && { readOnly: true }),
      mode: embeddings.mode(),
      embeddings: embeddings.status(),
      ...(subject !== undefined && { subject: counts }),
    };
  } catch (error) {
    return failedStatus(location, error);
  }
}

async function closeAll(context: UseCaseContext, sweeper: Sweeper, embeddings: Embeddings): Promise<void> {
  embeddings.close();
  await sweeper.stop();
  await context.recall.close();
  await context.store.close();
}
