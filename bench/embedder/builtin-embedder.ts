/** The built-in model for benchmarks: runs in this process, one text at a time. Vectors are kept, so a second run loads no model. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Tokenizer } from "@huggingface/tokenizers";
import type { Embedder } from "../../recall/embedder.ts";

const ARTEFACT = new URL("../../model/artefact/", import.meta.url);
const MOST_PIECES = 256;
/** Ends every text. */
const LAST_PIECE = 102;

type Embed = (text: string) => Promise<Float32Array>;

export function createBuiltinEmbedder(): Embedder {
  let loading: Promise<Embed> | undefined;
  const embed = async (text: string): Promise<Float32Array> => {
    loading ??= load();
    return (await loading)(text);
  };
  return {
    model: "all-minilm-l6-v2 (built in)",
    space: "builtin/all-minilm-l6-v2/int8",
    dimensions: 384,
    language: "english",
    async embedDocuments(texts) {
      const vectors: Float32Array[] = [];
      for (const text of texts) vectors.push(await embed(text));
      return { vectors, truncated: [] };
    },
    embedQuery: embed,
    close() {},
  };
}

async function load(): Promise<Embed> {
  const ort = await import("onnxruntime-web/wasm");
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmBinary = readFileSync(wasmPath());
  const session = await ort.InferenceSession.create(
    readFileSync(fileURLToPath(new URL("model.ort", ARTEFACT))),
  );
  const tokenizer = new Tokenizer(
    JSON.parse(readFileSync(fileURLToPath(new URL("tokenizer.json", ARTEFACT)), "utf8")),
    {},
  );
  return async (text) => {
    const { ids } = tokenizer.encode(text);
    const pieces = ids.length > MOST_PIECES ? [...ids.slice(0, MOST_PIECES - 1), LAST_PIECE] : ids;
    const input = new ort.Tensor("int64", BigInt64Array.from(pieces.map(BigInt)), [pieces.length]);
    const { vector } = await session.run({ ids: input });
    if (!(vector?.data instanceof Float32Array)) throw new Error("The model answered no vector.");
    return Float32Array.from(vector.data);
  };
}

function wasmPath(): string {
  return createRequire(import.meta.url).resolve("onnxruntime-web/ort-wasm-simd-threaded.wasm");
}
