/** A real gateway with its own notes and, once it is added, our plugin. Returns the hits of its memory_search. */
import { defined } from "../../engine/defined.ts";
import { parsePath } from "../../engine/projections/paths.ts";
import { type JsonObject, OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { importInto } from "../plugin/fill.ts";
import type { FactLine } from "../recall/conversations.ts";

interface ShownHit {
  readonly corpus: string;
  /** The key of the fact that the hit shows, either as a note or from our memory. */
  readonly key: string;
}

export interface Shown {
  readonly hits: readonly ShownHit[];
  /** Characters of the possible hits among them, as the model reads them. */
  readonly possibleCharacters: number;
}

interface Reply extends Shown {
  readonly isPartial: boolean;
}

/** The subject whose memory a gateway's default agent searches. */
const SUBJECT = "main";
const READY_WITHIN_MS = 180_000;
/** In `provenanceLabel` while memory is still being read, or if the embedding service is not available. */
const IN_PART = "in part";

export class AskedHost {
  readonly #host: OpenClawHost;
  /** The fact's key, by the path of its note. */
  readonly #keys: ReadonlyMap<string, string>;

  private constructor(host: OpenClawHost, keys: ReadonlyMap<string, string>) {
    this.#host = host;
    this.#keys = keys;
  }

  /**
   * Writes one file per note, so that each hit can be matched to a note. Always call `stop` afterwards. `prepare` runs before the
   * notes are indexed.
   */
  static async start(
    facts: readonly FactLine[],
    config: JsonObject,
    prepare: (host: OpenClawHost) => Promise<void> = async () => undefined,
  ): Promise<AskedHost> {
    const notes = facts.map(({ key, value }, number) => {
      const path = `memory/${String(number + 1).padStart(4, "0")}.md`;
      return { key, path, text: `# ${key}\n\n${value}\n` };
    });
    const host = await OpenClawHost.make({
      notes: Object.fromEntries(notes.map(({ path, text }) => [path, text])),
      config,
    });
    const asked = new AskedHost(host, new Map(notes.map(({ path, key }) => [path, key])));
    try {
      await prepare(host);
      await asked.#indexNotes();
      await host.startGateway();
      return asked;
    } catch (error) {
      await host.stop();
      throw error;
    }
  }

  /** Keeps the home, and adds our plugin, its settings and a memory with these facts. */
  async addPlugin(tarball: string, facts: readonly FactLine[], settings: JsonObject): Promise<void> {
    await this.#host.stopGateway();
    await this.#host.installPlugin(tarball);
    await importInto(this.#host.home.stateDir, SUBJECT, linesOf(facts));
    await this.#host.startGateway();
    await this.#configure(settings);
    await this.#untilFound(facts[0], "embeddings" in settings);
  }

  /** Without `corpus`: the query of a model that names none. With `wiki`: only our memory. */
  ask(query: string, corpus?: "wiki", maxResults?: number): Promise<Shown> {
    return this.#search(query, corpus, maxResults);
  }

  stop(): Promise<void> {
    return this.#host.stop();
  }

  async #configure(config: JsonObject): Promise<void> {
    const { hash = null } = (await this.#host.rpc("config.get")) as JsonObject; // the host's own answer
    const patch = { plugins: { entries: { "helmdeck-memory": { config } } } };
    const params = { raw: JSON.stringify(patch), baseHash: hash, replacePaths: [] };
    await this.#host.rpc("config.patch", params, { timeoutMs: READY_WITHIN_MS });
  }

  async #indexNotes(): Promise<void> {
    const { code, stderr } = await this.#host.openclaw(["memory", "index"]);
    if (code !== 0) throw new Error(`openclaw memory index ended with ${code}: ${stderr}`);
  }

  async #search(query: string, corpus?: "wiki", maxResults?: number): Promise<Reply> {
    const args = { query, ...defined({ corpus, maxResults }) };
    const reply = await this.#host.invokeTool("memory_search", args);
    const { results } = reply.details;
    if (!Array.isArray(results)) throw new Error(`memory_search gave no results: ${reply.text}`);
    const given = results as readonly JsonObject[]; // the code below checks the fields that it reads
    const possible = given.filter(({ provenanceLabel }) => String(provenanceLabel).includes("only possibly"));
    return {
      hits: given.map(({ corpus, path }) => ({ corpus: String(corpus), key: this.#keyOf(String(path)) })),
      possibleCharacters: possible.length === 0 ? 0 : JSON.stringify(possible, null, 2).length,
      isPartial: given.some(({ provenanceLabel }) => String(provenanceLabel).includes(IN_PART)),
    };
  }

  #keyOf(path: string): string {
    return this.#keys.get(path) ?? parsePath(path)?.key ?? path;
  }

  /** Waits until the fact is found, no hit says that only a part was searched, and no entry waits to be embedded. */
  async #untilFound(fact: FactLine | undefined, byMeaning: boolean): Promise<void> {
    if (fact === undefined) return;
    const until = performance.now() + READY_WITHIN_MS;
    for (;;) {
      const { hits, isPartial } = await this.#search(fact.value, "wiki");
      if (
        !isPartial &&
        hits.some(({ key }) => key === fact.key) &&
        (!byMeaning || (await this.#isEmbedded()))
      )
        return;
      if (performance.now() > until) throw new Error(`Not found within ${READY_WITHIN_MS} ms: ${fact.key}`);
    }
  }

  async #isEmbedded(): Promise<boolean> {
    const status = (await this.#host.rpc("helmdeck.status", {})) as JsonObject; // the answer of our own plugin
    const embeddings = status.embeddings as JsonObject | undefined;
    return Number(embeddings?.embedded) > 0 && embeddings?.waiting === 0;
  }
}

async function* linesOf(facts: readonly FactLine[]): AsyncGenerator<Uint8Array> {
  for (const fact of facts) yield Buffer.from(`${JSON.stringify(fact)}\n`);
}
