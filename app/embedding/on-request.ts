/** Embedding for commands, which end before any background work could finish. */

import { defined } from "../../engine/defined.ts";
import { asHelmdeckError, type HelmdeckError } from "../../engine/errors.ts";
import { projectEntry } from "../../engine/projections/chunks.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import { processTimer, type Timer, within } from "../../engine/timing.ts";
import type { Coverage, SemanticIndex } from "../../recall/vectors/semantic-contract.ts";
import type { Memory } from "../memory.ts";
import type { UseCaseContext } from "../use-case-context.ts";
import { MOST_MEMORIES } from "./change-watch.ts";
import { type ActiveEmbeddings, PROBE } from "./open-embeddings.ts";

export interface EmbedRequest {
  /** Limits the time and stops at the first failure. Default: until everything is embedded, or it keeps failing. */
  readonly withinMs?: number;
  readonly onProgress?: (coverage: Coverage) => void;
}

export interface EmbedReport extends Coverage {
  /** Why it stopped early; finished embeddings are kept. */
  readonly failure?: HelmdeckError;
}

const NOTHING: EmbedReport = { embedded: 0, total: 0, refused: 0 };
/** Consecutive failures, with exponential back-off: half a minute in total. */
const MOST_FAILURES = 5;
/** For the built-in model on a busy machine, which is loaded before it can embed a fact. */
const LOADING_MS = 3_500;

export class EmbeddingOnRequest {
  readonly #context: UseCaseContext;
  readonly #active: ActiveEmbeddings | undefined;
  readonly #timer: Timer;

  constructor(context: UseCaseContext, active: ActiveEmbeddings | undefined, timer: Timer = processTimer) {
    this.#context = context;
    this.#active = active;
    this.#timer = timer;
  }

  /** All entries of a namespace. Service failures are in the report; rejects when the store fails. */
  async all(namespace: Namespace, request: EmbedRequest): Promise<EmbedReport> {
    if (this.#active === undefined) return NOTHING;
    const { index, embedder } = this.#active;
    const isOnTheWay = request.withinMs !== undefined;
    // A question has just found that the service does not work.
    if (isOnTheWay && embedder.state().reason !== undefined) return index.coverage(namespace);
    await this.#context.recall.warm(namespace);
    await (isOnTheWay
      ? waitForVectors(index, namespace, PATIENCE_MS, this.#timer)
      : index.settled(namespace));
    const failure = isOnTheWay
      ? await this.#run(index, namespace, request)
      : ((await this.#probe(this.#active, namespace)) ?? (await this.#run(index, namespace, request)));
    return { ...index.coverage(namespace), ...defined({ failure }) };
  }

  /** A single fact, without reading all the others first unless they are already loaded. */
  async fact(namespace: Namespace, key: string, request: EmbedRequest): Promise<void> {
    const { index, embedder } = this.#active ?? {};
    if (index !== undefined && index.coverage(namespace).total > 0)
      return void (await this.all(namespace, request));
    const entry = await this.#context.store.get({ namespace, origin: "fact", key });
    const projection = entry && projectEntry(entry);
    if (index === undefined || projection?.kind !== "chunk") return;
    const follower = index.follow(namespace);
    follower.changed([projection.entry], []);
    follower.caughtUp();
    const { withinMs } = request;
    const loadingMs = embedder?.isLocal === true ? LOADING_MS : 0;
    await this.#run(index, namespace, {
      ...request,
      ...defined({ withinMs: withinMs && withinMs + loadingMs }),
    });
  }

  /** Fails at once when the service does not work, unless nothing is left. Vectors of other dimensions than its answer are left. */
  async #probe(
    { index, embedder }: ActiveEmbeddings,
    namespace: Namespace,
  ): Promise<HelmdeckError | undefined> {
    const { embedded, refused, total } = index.coverage(namespace);
    if (total === 0) return undefined;
    try {
      index.learnDimensions((await embedder.embedQuery(PROBE)).length);
    } catch (error) {
      return embedded + refused < total ? asHelmdeckError(error) : undefined;
    }
    await this.#context.recall.warm(namespace); // reads them again
    return undefined;
  }

  #run(
    index: SemanticIndex,
    namespace: Namespace,
    { withinMs, onProgress }: EmbedRequest,
  ): Promise<HelmdeckError | undefined> {
    const mostFailures = withinMs === undefined ? MOST_FAILURES : 1;
    const run = index.embed(namespace, { mostFailures, ...defined({ onProgress }) });
    return withinMs === undefined ? run : within(withinMs, run, () => undefined, this.#timer);
  }
}

/**
 * Embeds what was stored while no server ran, when one starts.
 *
 * For these subjects, or for everybody with entries. Never rejects; the status reports problems.
 */
export async function embedStoredEntries(memory: Memory, subjects?: readonly string[]): Promise<void> {
  try {
    const { embeddings } = await memory.status();
    if (embeddings === undefined || !("model" in embeddings)) return;
    const all = subjects ?? (await memory.callers()).callers.map(({ subject }) => subject);
    for (const subject of all.slice(0, MOST_MEMORIES)) await memory.warm(subject);
  } catch {
    // Each call reports the memory's problem.
  }
}

/** A person waits for a command; keyword search finds what is not loaded by then. */
const PATIENCE_MS = 1_500;

/** Waits briefly for existing vectors to be loaded. */
export async function waitForVectors(
  semantic: SemanticIndex | undefined,
  namespace: Namespace,
  patienceMs = PATIENCE_MS,
  timer?: Timer,
): Promise<void> {
  if (semantic !== undefined) await within(patienceMs, semantic.settled(namespace), () => undefined, timer);
}
