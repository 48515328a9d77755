/** An embedder that keeps its vectors on disk, so that a second run of a benchmark needs no model. */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { defined } from "../../engine/defined.ts";
import type { Embedder } from "../../recall/embedder.ts";

const CREATE = "create table if not exists vectors (text text primary key, vector blob) without rowid";
/** Each group is embedded and saved before the next one is requested, so that an interrupted run loses little. */
const TEXTS_AT_A_TIME = 256;

/** Texts may be requested in any order. The file name contains the embedding space. `close` also closes `embedder`. */
export function keepEmbeddings(embedder: Embedder, folder: string): Embedder {
  mkdirSync(folder, { recursive: true });
  const kept = new KeptVectors(join(folder, `embeddings-${hashOf(embedder.space).slice(0, 16)}.sqlite`));

  async function embed(kind: Kind, texts: readonly string[], ask: Ask): Promise<readonly Float32Array[]> {
    const missing = [...new Set(texts)].filter((text) => kept.get(kind, text) === undefined);
    for (let from = 0; from < missing.length; from += TEXTS_AT_A_TIME) {
      const some = missing.slice(from, from + TEXTS_AT_A_TIME);
      kept.add(kind, some, await ask(some));
    }
    return texts.map((text) => kept.require(kind, text));
  }

  return {
    model: embedder.model,
    space: embedder.space,
    ...defined({ language: embedder.language }),
    get dimensions() {
      return embedder.dimensions ?? kept.dimensions;
    },
    async embedDocuments(texts, options) {
      const ask: Ask = async (some) => (await embedder.embedDocuments(some, options)).vectors;
      return { vectors: await embed("document", texts, ask), truncated: [] };
    },
    async embedQuery(text, options) {
      const ask: Ask = async () => [await embedder.embedQuery(text, options)];
      const [vector] = await embed("question", [text], ask);
      return vector as Float32Array; // one text gives one vector
    },
    close() {
      embedder.close();
      kept.close();
    },
  };
}

type Kind = "document" | "question";
type Ask = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

class KeptVectors {
  readonly #database: DatabaseSync;
  readonly #inMemory = new Map<string, Float32Array>();

  constructor(path: string) {
    this.#database = new DatabaseSync(path, { timeout: 10_000 });
    this.#database.exec(`pragma journal_mode = wal; ${CREATE}`);
  }

  /** Taken from any vector. Undefined while there is none. */
  get dimensions(): number | undefined {
    const row = this.#database.prepare("select length(vector) / 4 as numbers from vectors limit 1").get();
    return row === undefined ? undefined : Number(row.numbers);
  }

  get(kind: Kind, text: string): Float32Array | undefined {
    const name = nameOf(kind, text);
    const known = this.#inMemory.get(name);
    if (known !== undefined) return known;
    const row = this.#database.prepare("select vector from vectors where text = ?").get(name);
    if (!(row?.vector instanceof Uint8Array)) return undefined;
    const vector = new Float32Array(Uint8Array.from(row.vector).buffer);
    this.#inMemory.set(name, vector);
    return vector;
  }

  require(kind: Kind, text: string): Float32Array {
    const vector = this.get(kind, text);
    if (vector === undefined) throw new Error("The embedder answered fewer vectors than it was given texts.");
    return vector;
  }

  add(kind: Kind, texts: readonly string[], vectors: readonly Float32Array[]): void {
    const insert = this.#database.prepare("insert or replace into vectors (text, vector) values (?, ?)");
    this.#database.exec("begin immediate");
    vectors.forEach((vector, place) => {
      const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
      insert.run(nameOf(kind, texts[place] ?? ""), bytes);
    });
    this.#database.exec("commit");
  }

  close(): void {
    this.#database.close();
  }
}

function nameOf(kind: Kind, text: string): string {
  return hashOf(`${kind}\0${text}`);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
