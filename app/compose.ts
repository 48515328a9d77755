/** The use cases over one open store: what every surface calls, in process or through the worker. */
import {
  type MemoryStore,
  type Namespace,
  RunClock,
  type Subject,
  type Timer,
  type UnixMs,
} from "../engine/index.ts";
import { createRecall, type RecallQuery } from "../recall/index.ts";
import { corpusPage } from "./corpus-pages.ts";
import { recallOverStore } from "./corpus-source.ts";
import { readDocument } from "./documents.ts";
import { getFact, listFacts, storeFact } from "./facts.ts";
import { forget } from "./forgetting.ts";
import { examineOpenMemory, type KeyFacts } from "./health/doctor.ts";
import type { Kit } from "./kit.ts";
import type { Memory, MemoryStatus } from "./memory.ts";
import {
  callersOf,
  failedStatus,
  myDefaults,
  myMemory,
  subjectCounts,
  type Whereabouts,
} from "./overview.ts";
import { recordPackRun, recordPipelineRun } from "./runs.ts";
import { requireQuery } from "./searching.ts";
import { requireNamespace } from "./subject.ts";
import { Sweeper } from "./sweeper.ts";

/** An open memory in this process, with the store itself for import and export. */
export interface OpenMemory extends Memory {
  readonly store: MemoryStore;
  readonly now: () => UnixMs;
}

export interface Composition {
  readonly store: MemoryStore;
  readonly whereabouts: Whereabouts & { readonly keyPath: string };
  readonly key: KeyFacts;
  readonly now: () => UnixMs;
  /** From 0 up to but not 1. */
  readonly random?: () => number;
  /** 0: never. */
  readonly sweepEveryMs: number;
  readonly timer?: Timer;
}

/** Owns the store from here on: `close` closes it. */
export function composeMemory(parts: Composition): OpenMemory {
  const { store, now, whereabouts } = parts;
  const kit: Kit = {
    store,
    now,
    recall: createRecall({ source: recallOverStore(store), now }),
    runClock: new RunClock(now, parts.random ?? Math.random),
  };
  const sweep = () => store.deleteExpired();
  const sweeper = new Sweeper({
    sweep,
    everyMs: parts.sweepEveryMs,
    ...(parts.timer && { timer: parts.timer }),
  });
  let closing: Promise<void> | undefined;
  return {
    store,
    now,
    storeFact: within((namespace, fact) => storeFact(kit, namespace, fact)),
    getFact: within((namespace, key) => getFact(kit, namespace, key)),
    listFacts: within((namespace, query) => listFacts(kit, namespace, query)),
    search: within((namespace, query: RecallQuery) => kit.recall.search(namespace, requireQuery(query))),
    readDocument: within((namespace, query) => readDocument(kit, namespace, query)),
    forget: within((namespace, input) => forget(kit, namespace, input)),
    myMemory: async (subject) => myMemory(kit, requireNamespace(subject), subject),
    defaults: async (subject) => myDefaults(kit, requireNamespace(subject), subject),
    corpusPage: within((namespace, query) => corpusPage(kit, namespace, query)),
    callers: () => callersOf(kit),
    revision: async (subject) => store.revision(requireNamespace(subject)),
    recordPackRun: within((namespace, row) => recordPackRun(kit, namespace, row)),
    recordPipelineRun: within((namespace, row) => recordPipelineRun(kit, namespace, row)),
    warm: async (subject) => kit.recall.warm(requireNamespace(subject)),
    sweep,
    status: (subject) => statusOf(kit, whereabouts, subject),
    doctor: () => examineOpenMemory({ ...parts, sweepFailure: sweeper.failure }),
    close: () => {
      closing ??= closeAll(kit, sweeper);
      return closing;
    },
  };
}

/** Each use case is handed the namespace of its caller, and nothing else to find entries by. */
function within<Input, Answer>(
  useCase: (namespace: Namespace, input: Input) => Promise<Answer>,
): (subject: Subject, input: Input) => Promise<Answer> {
  return async (subject, input) => useCase(requireNamespace(subject), input);
}

async function statusOf(
  kit: Kit,
  place: Composition["whereabouts"],
  subject: Subject | undefined,
): Promise<MemoryStatus> {
  const { keyPath: _, ...whereabouts } = place;
  try {
    // Without a subject the store is asked all the same: a status says whether memory works now.
    const name = subject === undefined ? "" : subject;
    const counts = await subjectCounts(kit, requireNamespace(name), name);
    return {
      state: "ready",
      ...whereabouts,
      mode: "keyword",
      ...(subject !== undefined && { subject: counts }),
    };
  } catch (error) {
    return failedStatus(whereabouts, error);
  }
}

async function closeAll(kit: Kit, sweeper: Sweeper): Promise<void> {
  await sweeper.stop();
  kit.recall.close();
  await kit.store.close();
}
