/**
 * A memory in a served engine, over its REST API; the engine stores, searches and ranks.
 *
 * The engine derives the memory from the token; the subject here is only the token's name. Nothing is queued: a call that cannot
 * be completed fails at once.
 */
import {
  defined,
  HelmdeckError,
  invalidField,
  isHelmdeckError,
  type RecallMode,
  rfc3339,
  type Subject,
  type Writer,
} from "../../engine/index.ts";
import type { OpenMemory } from "../compose.ts";
import type { FactHistory, FormerView, Memory } from "../memory.ts";
import { revisionReplySchema } from "../wire/caller-schemas.ts";
import { documentReplySchema } from "../wire/document-schemas.ts";
import { type HistoryReply, historyReplySchema, undoReplySchema } from "../wire/history-schemas.ts";
import { forgetReplySchema, storeReplySchema } from "../wire/memory-schemas.ts";
import { recordedReplySchema } from "../wire/run-schemas.ts";
import { explainedSearchReplySchema } from "../wire/search-schemas.ts";
import { snakeCased } from "../wire/snake-case.ts";
import { growthReplySchema, runsReplySchema } from "../wire/timeline-schemas.ts";
import { factSchema, factsReplySchema, myMemoryReplySchema } from "../wire/view-schemas.ts";
import { claimOf } from "../wire/writer-claim.ts";
import { EngineClient, type EngineClientOptions } from "./engine-client.ts";
import { engineStatus } from "./engine-status.ts";
import { examineEngine } from "./examine-engine.ts";
import { externalMemory } from "./external-memory.ts";
import type { FromReply } from "./from-reply.ts";

export interface RemoteMemoryOptions extends EngineClientOptions {
  /** Everyone with a token, for doctor and health. */
  readonly agents: readonly Subject[];
  /** For queries without a mode. Default: the engine's. */
  readonly recall?: RecallMode;
  /** The system's clock, in Unix milliseconds. */
  readonly now?: () => number;
}

const MEMORY = "/api/v1/memory";
/** A page of facts, or a fact's history, may hold several of the largest values. */
const MOST_BYTES_OF_PAGE = 8 * 1024 * 1024;

/** Sends nothing before the first call. Refuses functions that only a command line has. */
export function openRemoteMemory(options: RemoteMemoryOptions): OpenMemory {
  const { address, agents, now = Date.now } = options;
  const client = new EngineClient(options);
  const able: Partial<Memory> = {
    ...factUses(client),
    ...readingUses(client, options.recall),
    ...recordingUses(client),
    warm: async () => {}, // the engine indexes a memory on its first search, and reports that meanwhile
    status: (agent) => engineStatus(client, agents, agent),
    doctor: () => examineEngine(client, { address, agents, now: now() }),
    close: async () => client.close(),
  };
  return externalMemory(able, { now, refusal: () => notOverRest(client.url) });
}

function factUses(client: EngineClient) {
  return {
    storeFact: (agent, fact, writer) =>
      client.call(agent, {
        ...{ path: `${MEMORY}/store`, writes: true },
        body: { ...snakeCased({ ...fact }), ...defined({ writer: claimOf(writer) }) },
        answers: storeReplySchema,
      }),
    getFact: async (agent, key) =>
      orUndefined(client.call(agent, { path: pathOfFact(key), answers: factSchema })),
    listFacts: (agent, query) =>
      client.call(agent, {
        ...{ path: `${MEMORY}/facts`, query: snakeCased({ ...query }), answers: factsReplySchema },
        mostBytes: MOST_BYTES_OF_PAGE,
      }),
    undoFact: (agent, key) =>
      client.call(agent, {
        ...{ path: `${MEMORY}/undo`, body: { key }, writes: true },
        answers: undoReplySchema,
      }),
    renewFact: (agent, input) =>
      client.call(agent, {
        ...{ path: `${MEMORY}/renew`, body: snakeCased({ ...input }), writes: true },
        answers: factSchema,
      }),
    forget: (agent, input) =>
      client.call(agent, {
        ...{ path: `${MEMORY}/forget`, body: snakeCased({ ...input }), writes: input.dryRun !== true },
        answers: forgetReplySchema,
      }),
  } satisfies Partial<Memory>;
}

function readingUses(client: EngineClient, recall: RecallMode | undefined) {
  return {
    search: (agent, query) =>
      client.call(agent, {
        ...{ path: `${MEMORY}/search`, body: snakeCased({ ...defined({ recall }), ...query }) },
        answers: explainedSearchReplySchema,
      }),
    readDocument: (agent, query) =>
      orUndefined(
        client.call(agent, {
          ...{ path: `${MEMORY}/document`, body: snakeCased({ ...query }) },
          answers: documentReplySchema,
        }),
      ),
    factHistory: async (agent, key) => {
      const call = { path: `${pathOfFact(key)}/history`, mostBytes: MOST_BYTES_OF_PAGE };
      const history = await orUndefined(client.call(agent, { ...call, answers: historyReplySchema }));
      return history && historyOf(history);
    },
    listRuns: async (agent, { until, ...query }) => {
      const given = { ...query, ...(until !== undefined && { until: timeText(until) }) };
      const call = { path: `${MEMORY}/runs`, query: snakeCased(given), mostBytes: MOST_BYTES_OF_PAGE };
      const { runs, ...page } = await client.call(agent, { ...call, answers: runsReplySchema });
      return { ...page, runs: runs.map(({ atUnix, ...run }) => ({ ...run, at: atUnix * 1_000 })) };
    },
    growth: (agent) => client.call(agent, { path: `${MEMORY}/growth`, answers: growthReplySchema }),
    myMemory: (agent) => client.call(agent, { path: MEMORY, answers: myMemoryReplySchema }),
    revision: async (agent) =>
      (await client.call(agent, { path: `${MEMORY}/revision`, answers: revisionReplySchema })).revision,
  } satisfies Partial<Memory>;
}

function recordingUses(client: EngineClient) {
  const record = async (agent: Subject, kind: "tool" | "pack", row: object, writer?: Writer) => {
    await client.call(agent, {
      ...{ path: `${MEMORY}/runs`, writes: true },
      body: { kind, ...row, ...defined({ writer: claimOf(writer) }) },
      answers: recordedReplySchema,
    });
  };
  return {
    recordToolCall: (agent, row, writer) => record(agent, "tool", row, writer),
    recordPackRun: (agent, row, writer) => record(agent, "pack", row, writer),
  } satisfies Partial<Memory>;
}

function historyOf({ key, former }: FromReply<HistoryReply>): FactHistory {
  const plain = ({ undo: _, ...one }: (typeof former)[number]): FormerView => one;
  return { key, former: former.map(plain), undo: former.filter(({ undo }) => undo).map(plain) };
}

/** Clamps to 1970 through 9999. */
function timeText(at: number): string {
  return rfc3339(Math.min(Math.max(at, 0), LAST_TIME));
}
const LAST_TIME = Date.UTC(9999, 11, 31);

/** Percent-encoded. A key that a URL would normalise, such as "..", is replaced by its docid. */
function pathOfFact(key: string): string {
  if (!key.isWellFormed()) throw invalidField("key", "must be valid Unicode");
  const name = key === "." || key === ".." ? `user_facts/${key}` : key;
  return `${MEMORY}/facts/${encodeURIComponent(name)}`;
}

async function orUndefined<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isHelmdeckError(error, "not_found")) return undefined;
    throw error;
  }
}

/** For operations that REST does not offer, and those for the engine's operator. */
function notOverRest(url: string): HelmdeckError {
  return new HelmdeckError(
    "memory_unavailable",
    `The engine at ${url} keeps this memory, so this must be done there: run helmdeck-memory on the engine's machine.`,
  );
}
