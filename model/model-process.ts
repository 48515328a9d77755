/**
 * The process of the built-in models: loads each from its folder when it is first needed, and turns texts into vectors.
 *
 * Dangers: files that somebody changed, and a gateway that must not suffer. So it runs nothing but bytes that match their
 * checksums in this build, opens no connection, and ends with the process that started it.
 */
import { Tokenizer } from "@huggingface/tokenizers";
import { createBirpc } from "birpc";
import { env, InferenceSession, Tensor } from "onnxruntime-web/wasm";
import { asHelmdeckError, HelmdeckError, isHelmdeckError } from "../engine/errors.ts";
import { type ModelKind, missingFile, readModelFile } from "./artefact.ts";
import type { ModelAnswer, ModelFunctions } from "./model-messages.ts";
import { PieceTable, ROW_WIDTH } from "./piece-table.ts";
import { makeUnigram } from "./unigram.ts";

/** What the English model was trained with, and enough for the other; the first and the last one are marks. */
const MOST_PIECES = 256;
/** After a failure, for those who wait for the same. */
const LAST_ANSWERS_MS = 50;

interface Model {
  piecesOf(text: string): readonly number[];
  inputOf(pieces: readonly number[]): Readonly<Record<string, Tensor>>;
  readonly session: InferenceSession;
  close?(): void;
}

function serve(folder: string, multilingualFolder: string): void {
  const loading: Partial<Record<ModelKind, Promise<Model>>> = {};
  let runtime: Promise<void> | undefined;
  const model = async (kind: ModelKind): Promise<Model> => {
    runtime ??= readRuntime(folder).catch((error: unknown) => {
      runtime = undefined;
      throw error;
    });
    await runtime;
    loading[kind] ??= kind === "english" ? loadEnglish(folder) : loadMultilingual(multilingualFolder);
    return loading[kind];
  };
  /** What is wrong with the files of one model is no harm to the other. They are read anew when the next text comes. */
  const answer = async <Value>(kind: ModelKind, work: () => Promise<Value>): Promise<ModelAnswer<Value>> => {
    const answered = await answerOf(work, kind === "multilingual");
    if (!answered.ok && answered.goesOn && answered.fits === undefined) {
      loading[kind]?.then((loaded) => loaded.close?.()).catch(() => undefined);
      delete loading[kind];
    }
    return answered;
  };
  const functions: ModelFunctions = {
    load: (kind) => answer(kind, () => model(kind).then(() => true)),
    embed: (kind, text) => answer(kind, async () => embed(await model(kind), text)),
  };
  createBirpc<object, ModelFunctions>(functions, {
    post: (message) => process.send?.(message),
    on: (listener) => process.on("message", listener),
    timeout: -1,
  });
  process.on("disconnect", () => process.exit());
}

async function readRuntime(folder: string): Promise<void> {
  env.wasm.wasmBinary = await readModelFile(folder, "ort-wasm-simd-threaded.wasm");
  env.wasm.numThreads = 1;
  env.logLevel = "fatal"; // it would write to nobody
}

async function loadEnglish(folder: string): Promise<Model> {
  const weights = await readModelFile(folder, "model.ort");
  const tokenizer = new Tokenizer(JSON.parse((await readModelFile(folder, "tokenizer.json")).toString()), {});
  return {
    session: await sessionOf(weights),
    piecesOf: (text) => tokenizer.encode(text).ids,
    inputOf: (pieces) => ({
      ids: new Tensor("int64", BigInt64Array.from(pieces, BigInt), [pieces.length]),
    }),
  };
}

async function loadMultilingual(folder: string): Promise<Model> {
  if (folder === "") throw missingFile(folder, "multilingual.onnx");
  const graph = await readModelFile(folder, "multilingual.onnx");
  const piecesOf = makeUnigram((await readModelFile(folder, "multilingual-pieces.txt")).toString());
  const session = await sessionOf(graph);
  const table = new PieceTable(folder);
  return {
    session,
    piecesOf,
    inputOf: (pieces) => ({
      rows: new Tensor("float32", table.rows(pieces), [pieces.length, ROW_WIDTH]),
    }),
    close: () => {
      table.close();
      void session.release();
    },
  };
}

async function sessionOf(graph: Uint8Array): Promise<InferenceSession> {
  const session = await InferenceSession.create(graph);
  delete env.wasm.wasmBinary; // compiled; the copy is not needed again
  setImmediate(() => globalThis.gc?.()); // neither are the bytes of the weights
  return session;
}

async function embed({ piecesOf, inputOf, session }: Model, text: string): Promise<Float32Array> {
  const pieces = piecesOf(text);
  if (pieces.length > MOST_PIECES) throw new TooLong(lengthThatFits(piecesOf, text));
  const { vector } = await session.run(inputOf(pieces));
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
function lengthThatFits(piecesOf: Model["piecesOf"], text: string): number {
  let [fits, tooLong] = [0, text.length];
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (piecesOf(text.slice(0, middle)).length <= MOST_PIECES) fits = middle;
    else tooLong = middle;
  }
  return fits;
}

/** Never rejects. After a failure the process ends, since the runtime may not recover; if `isSecond`, not for the model's files. */
async function answerOf<Value>(work: () => Promise<Value>, isSecond: boolean): Promise<ModelAnswer<Value>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (error instanceof TooLong) return { ...failureOf(error), fits: error.fits, goesOn: true };
    const isOfFiles = isHelmdeckError(error, "model_missing") || isHelmdeckError(error, "model_changed");
    if (isSecond && isOfFiles) return { ...failureOf(error), goesOn: true };
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

serve(process.argv[2] ?? "", process.argv[3] ?? "");
