/**
 * Semantic search for one open memory: the client of the embedding service and the vectors, which the store keeps for recall, or
 * the reason why there are none; and doctor's check of both.
 */
import { defined } from "../../engine/defined.ts";
import { asHelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import type { MemoryStore, VectorStore } from "../../engine/store/memory-store.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import { processTimer, type Timer } from "../../engine/timing.ts";
import type { FoundModel } from "../../model/artefact.ts";
import { MODEL_NAME } from "../../model/run-model.ts";
import { type ReferenceCache, ReferenceVectors } from "../../recall/meaning/reference-vectors.ts";
import type { SemanticIndex, VectorCache } from "../../recall/vectors/semantic-contract.ts";
import { createSemanticIndex } from "../../recall/vectors/semantic-index.ts";
import type { EmbedderSettings, SidecarEmbedder } from "../../sidecar/embedding-service.ts";
import { settingsOfSpace } from "../../sidecar/models.ts";
import { createOllamaEmbedder, createOllamaSidecar } from "../../sidecar/ollama.ts";
import { createOpenAiCompatibleEmbedder } from "../../sidecar/openai-compatible.ts";
import { remedyFor } from "../health/remedies.ts";
import type { EmbeddingsStatus, Finding } from "../memory.ts";
import { embedderText } from "../presenters/words.ts";
import type { UseCaseContext } from "../use-case-context.ts";
import { createBuiltInEmbedder, type ModelPlace } from "./built-in-embedder.ts";
import { MOST_MEMORIES } from "./change-watch.ts";
import type { BuiltInSettings, EmbeddingService, EmbeddingSettings } from "./embedding-settings.ts";

interface EmbeddingsOptions {
  readonly settings: EmbeddingSettings;
  readonly store: MemoryStore;
  /** Absent: there is no built-in model here. */
  readonly builtIn?: ModelPlace | undefined;
  /** False in a short-lived process: vectors are read but not made. */
  readonly embedsEntries: boolean;
  /** How long a question may wait for its vector. A command waits so long for the built-in model alone. */
  readonly questionBudgetMs?: number | undefined;
  readonly timer?: Timer;
  readonly random?: () => number;
}

export interface Embeddings {
  /** Absent: keyword search only. */
  readonly active?: ActiveEmbeddings;
  status(): EmbeddingsStatus;
  /** How long a question waits for its vector, so that search, status and doctor agree. Absent: by default. */
  readonly patienceMs?: number;
  /** How a search works now, as far as is known. */
  mode(): "keyword" | "hybrid";
  /** Asks the service, so that the status knows whether it works. Never rejects. */
  ask(): Promise<void>;
  /** Loads the built-in model in the background, if it is used here: a question or an entry will come soon. */
  prepare(): void;
  /** Aborts work in progress. */
  close(): void;
}

export interface ActiveEmbeddings {
  readonly embedder: SidecarEmbedder;
  readonly index: SemanticIndex;
  readonly references: ReferenceVectors;
}

/** What doctor and status ask the service. */
export const PROBE = "Is anybody there?";
/** As a search waits for its question. */
const ASK_MS = 1_500;
/** A service that does not answer may never do so; the built-in model is loading, or ends. */
const MOST_FOR_A_SERVICE_MS = 5_000;
const ignore = (): void => {};

/** Sends no request yet. Never throws: unusable settings appear in the status. */
export function openEmbeddings(options: EmbeddingsOptions): Embeddings {
  const { settings, builtIn } = options;
  if (settings.provider === "none" || settings.provider === "unusable") return without(settings);
  if ("isDefault" in settings && !isWorthAsking(builtIn)) return without(notInstalled(builtIn));
  try {
    return openWith(settings, options);
  } catch (error) {
    if (isHelmdeckError(error, "invalid_input"))
      return without({ provider: "unusable", problem: error.message });
    throw error;
  }
}

function without(status: EmbeddingsStatus): Embeddings {
  return {
    ...{ status: () => status, mode: () => "keyword", ask: async () => {} },
    ...{ prepare: () => {}, close: () => {} },
  };
}

/** A damaged model is used, so that its first text says what is wrong. */
function isWorthAsking(builtIn: ModelPlace | undefined): boolean {
  return builtIn !== undefined && (builtIn.found.ok || builtIn.found.why === "changed");
}

function notInstalled(builtIn: ModelPlace | undefined): EmbeddingsStatus {
  if (builtIn === undefined || builtIn.found.ok) return { provider: "none" };
  return { provider: "none", problem: builtIn.found.problem };
}

function openWith(service: BuiltInSettings | EmbeddingService, options: EmbeddingsOptions): Embeddings {
  const { store, embedsEntries, timer = processTimer, random, builtIn } = options;
  const { provider } = service;
  const patienceMs = patienceWith(service, options);
  const embedder = embedderFor(service, builtIn);
  // Nothing of it can be seen before the first text, and there may be none for a long time.
  if (provider === "builtin" && builtIn?.found.ok !== true) embedder.embedQuery(PROBE).then(ignore, ignore);
  const formers = new Map<string, SidecarEmbedder | undefined>();
  const references = new ReferenceVectors(referenceCacheOver(store));
  const index = createSemanticIndex({
    embedder,
    cache: vectorCacheOver(store),
    references,
    formerEmbedder: (space) => {
      if (!formers.has(space)) formers.set(space, formerFor(service, space, builtIn));
      return formers.get(space);
    },
    readOnly: !embedsEntries,
    timer,
    ...defined({ random }),
  });
  return {
    active: { embedder, index, references },
    ...defined({ patienceMs }),
    status() {
      const { embedded, waiting, refused, state, lastError } = index.status();
      const { reason } = embedder.state();
      const failure = reason ?? lastError;
      return {
        ...{ provider, model: embedder.model, state, embedded, waiting, refused },
        ...defined({ failure, url: "url" in service ? service.url : undefined }),
      };
    },
    mode: () => (embedder.state().reason === undefined ? "hybrid" : "keyword"),
    ask: () => embedder.embedQuery(PROBE, { deadlineMs: patienceMs ?? ASK_MS }).then(ignore, ignore),
    prepare: () => {
      if (provider === "builtin") embedder.warm();
    },
    close() {
      index.close();
      for (const one of [embedder, ...formers.values()]) one?.close();
    },
  };
}

function patienceWith(
  service: BuiltInSettings | EmbeddingService,
  { questionBudgetMs, embedsEntries }: EmbeddingsOptions,
): number | undefined {
  if (questionBudgetMs === undefined || embedsEntries || !("url" in service)) return questionBudgetMs;
  return Math.min(questionBudgetMs, MOST_FOR_A_SERVICE_MS);
}

/** The same service may still have the former model; after a change of provider, the former one may still be there. */
function formerFor(
  service: BuiltInSettings | EmbeddingService,
  space: string,
  builtIn: ModelPlace | undefined,
): SidecarEmbedder | undefined {
  const settings = settingsOfSpace(space);
  if (settings === undefined) return undefined;
  if (settings.model === MODEL_NAME)
    return builtIn?.found.ok === true ? createBuiltInEmbedder(builtIn.find) : undefined;
  const former = "url" in service ? service : service.former;
  return former && serviceEmbedder(former, settings);
}

function embedderFor(
  service: BuiltInSettings | EmbeddingService,
  builtIn: ModelPlace | undefined,
): SidecarEmbedder {
  if ("url" in service) {
    const { model, dimensions } = service;
    return serviceEmbedder(service, { model, ...defined({ dimensions }) });
  }
  return createBuiltInEmbedder(builtIn?.find ?? nowhere);
}

/** A memory that was opened without a place for the model. */
async function nowhere(): Promise<FoundModel> {
  return { ok: false, why: "missing", folder: "", problem: "The built-in model is not installed." };
}

function serviceEmbedder(
  { provider, url, apiKey, keepAlive }: EmbeddingService,
  settings: EmbedderSettings,
): SidecarEmbedder {
  if (provider === "ollama") {
    const sidecar = createOllamaSidecar({ address: url, ...defined({ keepAlive }) });
    return createOllamaEmbedder(sidecar, settings);
  }
  return createOpenAiCompatibleEmbedder({
    address: url,
    ...defined({ apiKey }),
    ...settings,
  });
}

const CHECK = "semantic search";
/** A loaded model answers within a tenth of this; one that is not may take longer, and doctor reports it. */
const PROBE_MS = 5_000;

/** Requests one vector from the service. Never throws. */
export async function embeddingsFinding(
  embeddings: Embeddings,
  context: UseCaseContext,
  warm: (namespace: Namespace) => Promise<void>,
): Promise<Finding> {
  const status = embeddings.status();
  if (status.provider === "none") {
    const why = status.problem ?? "No embedding service is configured.";
    return { level: "ok", check: CHECK, message: `Off: search uses keywords. ${why}` };
  }
  if (status.provider === "unusable") {
    const remedy = "Correct the setting (docs/reference/embeddings.md). Keyword search continues.";
    return { level: "warning", check: CHECK, message: status.problem, remedy };
  }
  const where = embedderText(status);
  try {
    await embeddings.active?.embedder.embedQuery(PROBE, { deadlineMs: embeddings.patienceMs ?? PROBE_MS });
    return {
      level: "ok",
      check: CHECK,
      message: `${where}: answers. ${await coverage(embeddings, context, warm)}`,
    };
  } catch (error) {
    const { code, message } = asHelmdeckError(error);
    // The remedy of a deadline is about changes; a question makes none.
    const remedy = remedyFor(code === "deadline_exceeded" ? "embeddings_unavailable" : code);
    return { level: "warning", check: CHECK, message: `${where}: ${message}`, remedy };
  }
}

/** Counts over all memories, which are read into the index one after the other. */
async function coverage(
  { active }: Embeddings,
  { store }: UseCaseContext,
  warm: (namespace: Namespace) => Promise<void>,
): Promise<string> {
  let [embedded, total, refused] = [0, 0, 0];
  for (const { namespace } of (await store.namespaces()).slice(0, MOST_MEMORIES)) {
    await warm(namespace);
    const known = active?.index.coverage(namespace);
    embedded += known?.embedded ?? 0;
    total += known?.total ?? 0;
    refused += known?.refused ?? 0;
  }
  const not = refused === 0 ? "" : ` ${refused} were refused and are found by keywords only.`;
  return `Embedded: ${embedded} of ${total} entries.${not}`;
}

export function vectorCacheOver(store: VectorStore): VectorCache {
  return {
    spaces: () => store.vectorSpaces(),
    load: (namespace, space, ids) => store.vectors({ namespace, space, ids }),
    put: (namespace, space, batch) => store.putVectors(namespace, space, batch),
    dropOthers: (namespace, space, ids) => store.deleteOtherVectors({ namespace, space, ids }),
  };
}

export function referenceCacheOver(
  store: Pick<MemoryStore, "referenceVectors" | "putReferenceVectors">,
): ReferenceCache {
  return {
    load: (space) => store.referenceVectors(space),
    save: (space, made) => store.putReferenceVectors(space, made),
  };
}
