/** Embedding that a command asks for, since it is gone in a moment and no background goes on after it. */
import {
  asHelmdeckError,
  defined,
  type HelmdeckError,
  type Namespace,
  processTimer,
  projectEntry,
  type Timer,
  within,
} from "../../engine/index.ts";
import type { Coverage, SemanticIndex } from "../../recall/index.ts";
import type { UseCaseContext } from "../use-case-context.ts";
import type { ActiveEmbeddings } from "./open-embeddings.ts";
import { settleWithin } from "./settle.ts";

export interface EmbedRequest {
  /** On the way: given up after this time, and at the first failure. Default: until it is done, or keeps failing. */
  readonly withinMs?: number;
  readonly onProgress?: (coverage: Coverage) => void;
}

export interface EmbedReport extends Coverage {
  /** What ended it before it was done; what is embedded by then is kept. */
  readonly failure?: HelmdeckError;
}

const NOTHING: EmbedReport = { embedded: 0, total: 0, refused: 0 };
/** In a row, with a pause after each that doubles: half a minute in all. */
const MOST_FAILURES = 5;

export class EmbeddingOnRequest {
  readonly #context: UseCaseContext;
  readonly #active: ActiveEmbeddings | undefined;
  readonly #timer: Timer;

  constructor(context: UseCaseContext, active: ActiveEmbeddings | undefined, timer: Timer = processTimer) {
    this.#context = context;
    this.#active = active;
    this.#timer = timer;
  }

  /** All that a namespace has. What the service does is in the report; rejects when the store fails. */
  async all(namespace: Namespace, request: EmbedRequest): Promise<EmbedReport> {
    const { index, embedder } = this.#active ?? {};
    if (index === undefined || embedder === undefined) return NOTHING;
    const isOnTheWay = request.withinMs !== undefined;
    // A question has just met a service that does not work.
    if (isOnTheWay && embedder.state().reason !== undefined) return index.coverage(namespace);
    await this.#context.recall.warm(namespace);
    await (isOnTheWay ? settleWithin(index, namespace, this.#timer) : index.settled(namespace));
    const failure = isOnTheWay
      ? await this.#run(index, namespace, request)
      : ((await this.#probe(namespace)) ?? (await this.#run(index, namespace, request)));
    return { ...index.coverage(namespace), ...defined({ failure }) };
  }

  /** One fact alone, without reading all the others first, unless they have been. */
  async fact(namespace: Namespace, key: string, request: EmbedRequest): Promise<void> {
    const { index } = this.#active ?? {};
    if (index !== undefined && index.coverage(namespace).total > 0)
      return void (await this.all(namespace, request));
    const entry = await this.#context.store.get({ namespace, origin: "fact", key });
    const projection = entry && projectEntry(entry);
    if (index === undefined || projection?.kind !== "chunk") return;
    const follower = index.follow(namespace);
    follower.changed([projection.entry], []);
    follower.caughtUp();
    await this.#run(index, namespace, request);
  }

  /** A service that does not work at all is told at once, and one that has nothing to do is not asked. */
  async #probe(namespace: Namespace): Promise<HelmdeckError | undefined> {
    const { index, embedder } = this.#active ?? {};
    const { embedded, refused, total } = index?.coverage(namespace) ?? NOTHING;
    if (embedded + refused >= total) return undefined;
    return embedder?.embedQuery("Is anybody there?").then(() => undefined, asHelmdeckError);
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
