/**
 * The process of the built-in model: loads it from one folder, and turns one text after the other into a vector.
 *
 * Dangers: files that somebody changed, and a gateway that must not suffer. So it runs nothing but bytes that match their
 * checksums in this build, opens no connection, and ends with the process that started it.
 */
import { Tokenizer } from "@huggingface/tokenizers";
import { createBirpc } from "birpc";
import { env, InferenceSession, Tensor } from "onnxruntime-web/wasm";
import { asHelmdeckError, HelmdeckError, isHelmdeckError } from "../engine/errors.ts";
import { readModelFile } from "./artefact.ts";
import type { ModelAnswer, ModelFunctions } from "./model-messages.ts";

/** What the model was trained with; the first and the last one are marks. */
const MOST_PIECES = 256;
/** After a failure, for those who wait for the same. */
const LAST_ANSWERS_MS = 50;

interface Model {
  readonly tokenizer: Tokenizer;
  readonly session: InferenceSession;
}

function serve(folder: string): void {
  let loading: Promise<Model> | undefined;
  const model = (): Promise<Model> => {
    loading ??= loadModel(folder);
    return loading;
  };
  const functions: ModelFunctions = {
    load: () => answerOf(() => model().then(() => true)),
    embed: (text) => answerOf(async () => embed(await model(), text)),
  };
  createBirpc<object, ModelFunctions>(functions, {
    post: (message) => process.send?.(message),
    on: (listener) => process.on("message", listener),
    timeout: -1,
  });
  process.on("disconnect", () => process.exit());
}

async function loadModel(folder: string): Promise<Model> {
  const [weights, runtime, pieces] = await Promise.all([
    readModelFile(folder, "model.ort"),
    readModelFile(folder, "ort-wasm-simd-threaded.wasm"),
    readModelFile(folder, "tokenizer.json"),
  ]);
  env.wasm.numThreads = 1;
  env.wasm.wasmBinary = runtime;
  env.logLevel = "fatal"; // it would write to nobody
  const session = await InferenceSession.create(weights);
  const tokenizer = new Tokenizer(JSON.parse(pieces.toString()), {});
  delete env.wasm.wasmBinary; // compiled; the copy is not needed again
  setImmediate(() => globalThis.gc?.()); // neither are the bytes of the weights
  return { tokenizer, session };
}

async function embed({ tokenizer, session }: Model, text: string): Promise<Float32Array> {
  const { ids } = tokenizer.encode(text);
  if (ids.length > MOST_PIECES) throw new TooLong(lengthThatFits(tokenizer, text));
  const input = new Tensor("int64", BigInt64Array.from(ids, BigInt), [ids.length]);
  const { vector } = await session.run({ ids: input });
  const values = vector?.data;
  if (!(values instanceof Float32Array)) throw new HelmdeckError("internal", "The model gave no vector.");
  return values.slice();
}

class TooLong extends HelmdeckError {
  readonly fits: number;

  constructor(fits: number) {
    super("too_large", "A text is longer than the built-in model reads.");
    this.fits = fits;
  }
}

/** The longest beginning with few enough pieces. */
function lengthThatFits(tokenizer: Tokenizer, text: string): number {
  let [fits, tooLong] = [0, text.length];
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (tokenizer.encode(text.slice(0, middle)).ids.length <= MOST_PIECES) fits = middle;
    else tooLong = middle;
  }
  return fits;
}

/** Never rejects. After a failure the process ends: the runtime may not recover, and files may be put right. */
async function answerOf<Value>(work: () => Promise<Value>): Promise<ModelAnswer<Value>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (error instanceof TooLong) return { ...failureOf(error), fits: error.fits };
    setTimeout(() => process.exit(), LAST_ANSWERS_MS);
    return failureOf(isOutOfMemory(error) ? tooLittleMemory() : asHelmdeckError(error));
  }
}

function failureOf({ code, message }: HelmdeckError) {
  return { ok: false, code, message } as const;
}

/** The runtime has no class of its own for it. */
function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && !isHelmdeckError(error) && /memory|bad_alloc|allocat/i.test(error.message);
}

function tooLittleMemory(): HelmdeckError {
  return new HelmdeckError(
    "embeddings_out_of_memory",
    "The built-in model has too little memory: it needs about 200 MB.",
  );
}

serve(process.argv[2] ?? "");
