/**
 * The measurements behind the choice of the vector index: ways of scanning 100,000 vectors of 768 numbers in one run, and how much the
 * chosen one misses at different numbers of candidates. `node bench/vectors/kernels.ts [COUNT]`; docs/decisions has the figures.
 */
import type { EntryId } from "../../engine/store/memory-store.ts";
import { SignCodes } from "../../recall/vectors/sign-codes.ts";
import { VectorIndex } from "../../recall/vectors/vector-index.ts";
import { ExactRows, RoundedRows, type VectorRows } from "../../recall/vectors/vector-rows.ts";
import { quantile, table } from "../measured.ts";
import { DIMENSIONS, madeVector } from "./made-vectors.ts";

const ROUNDS = 30;
const QUESTIONS = 60;
const WORDS = DIMENSIONS / 64;

const count = Number(process.argv[2] ?? 100_000);
const vectors = Array.from({ length: count }, (_, i) => madeVector(`text ${i}`));
const question = madeVector("text 0");

/** The used part of WebAssembly. Its types come only with a browser's. */
interface WebAssemblyApi {
  readonly Memory: new (options: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
  instantiate(
    code: Uint8Array,
    imports: object,
  ): Promise<{
    readonly instance: { readonly exports: Record<string, (...args: readonly number[]) => void> };
  }>;
}
const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }; // Node has it

/** Compares bits with the processor's popcount instruction: 12 of them for a vector of 768 numbers. */
async function popcountKernel(rows: number): Promise<() => void> {
  const memory = new WebAssembly.Memory({ initial: Math.ceil((rows * (WORDS * 8 + 2) + 4_096) / 65_536) });
  const module = await WebAssembly.instantiate(POPCOUNT_MODULE, { e: { m: memory } });
  const scan = module.instance.exports.f;
  new Uint32Array(memory.buffer).forEach((_, i, words) => {
    words[i] = Math.imul(i, 2_654_435_761);
  });
  const distances = 1_024 + rows * WORDS * 8;
  const work = (): void => scan?.(1_024, 0, distances, rows, WORDS);
  work();
  const differing = bitsDiffering(new Uint8Array(memory.buffer, 1_024), new Uint8Array(memory.buffer, 0));
  if (new Uint16Array(memory.buffer, distances, 1)[0] !== differing)
    throw new Error("The kernel counts wrong.");
  return work;
}

function bitsDiffering(left: Uint8Array, right: Uint8Array): number {
  return Array.from({ length: WORDS * 8 }, (_, i) => bitsOf((left[i] ?? 0) ^ (right[i] ?? 0))).reduce(
    (sum, bits) => sum + bits,
    0,
  );
}

function bitsOf(byte: number): number {
  return byte.toString(2).replaceAll("0", "").length;
}

const [I32, I64, LOCAL_GET, LOCAL_SET, LOOP, END] = [0x7f, 0x7e, 0x20, 0x21, 0x03, 0x0b] as const;
const CONST32 = 0x41;
const [ADD32, SUB32] = [0x6a, 0x6b] as const;
/** Locals: 0 codes, 1 question, 2 distances, 3 rows, 4 words; 5 position in the question, 6 words left, 7 distance. */
const BODY = [
  ...[2, 2, I32, 1, I64],
  ...[LOOP, 0x40],
  ...[LOCAL_GET, 1, LOCAL_SET, 5, LOCAL_GET, 4, LOCAL_SET, 6, 0x42, 0, LOCAL_SET, 7],
  ...[LOOP, 0x40],
  ...[LOCAL_GET, 7, LOCAL_GET, 0, 0x29, 3, 0, LOCAL_GET, 5, 0x29, 3, 0, 0x85, 0x7b, 0x7c, LOCAL_SET, 7],
  ...[LOCAL_GET, 0, CONST32, 8, ADD32, LOCAL_SET, 0, LOCAL_GET, 5, CONST32, 8, ADD32, LOCAL_SET, 5],
  ...[LOCAL_GET, 6, CONST32, 1, SUB32, 0x22, 6, 0x0d, 0, END],
  ...[LOCAL_GET, 2, LOCAL_GET, 7, 0xa7, 0x3b, 1, 0],
  ...[LOCAL_GET, 2, CONST32, 2, ADD32, LOCAL_SET, 2],
  ...[LOCAL_GET, 3, CONST32, 1, SUB32, 0x22, 3, 0x0d, 0, END],
  END,
];
const POPCOUNT_MODULE = Uint8Array.of(
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...[1, 9, 1, 0x60, 5, I32, I32, I32, I32, I32, 0],
  ...[2, 8, 1, 1, 0x65, 1, 0x6d, 2, 0, 1],
  ...[3, 2, 1, 0],
  ...[7, 5, 1, 1, 0x66, 0, 0],
  ...[10, BODY.length + 2, 1, BODY.length],
  ...BODY,
);

function compareAll(rows: VectorRows): () => void {
  rows.reserve(count);
  for (const [row, vector] of vectors.entries()) rows.write(row, vector);
  const similarities = new Float32Array(count);
  return () => {
    for (let row = 0; row < count; row += 1) similarities[row] = rows.similarity(question, row);
  };
}

function signCodes(candidates: number): () => void {
  const codes = new SignCodes(new Float32Array(DIMENSIONS));
  codes.reserve(count);
  for (const [row, vector] of vectors.entries()) codes.write(row, vector);
  return () => codes.nearest(question, count, candidates);
}

function timed(name: string, megabytes: number, work: () => void): readonly string[] {
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  const shown = [Math.min(...times), quantile(times, 0.5), quantile(times, 0.95)];
  return [name, ...shown.map((ms) => ms.toFixed(2)), megabytes.toFixed(0)];
}

function filled(index: VectorIndex): VectorIndex {
  for (const [i, vector] of vectors.entries()) index.set(`${i}` as EntryId, vector); // any unique id works
  return index;
}

/** The share of an exact search's ten and fifty nearest that are found, and the largest error of a similarity. */
function missed(index: VectorIndex, exact: VectorIndex): readonly string[] {
  const shares = [0, 0];
  let error = 0;
  const times: number[] = [];
  for (let i = 0; i < QUESTIONS; i += 1) {
    const asked = nearText(i);
    const start = performance.now();
    const found = new Map(index.search(asked, 50).map((hit) => [hit.id, hit.similarity]));
    times.push(performance.now() - start);
    const wanted = exact.search(asked, 50);
    for (const [at, most] of [10, 50].entries()) {
      const there = wanted.slice(0, most).filter(({ id }) => found.has(id)).length;
      shares[at] = (shares[at] ?? 0) + there / most / QUESTIONS;
    }
    for (const { id, similarity } of wanted)
      error = Math.max(error, Math.abs((found.get(id) ?? similarity) - similarity));
  }
  return [...shares.map((share) => share.toFixed(4)), error.toFixed(4), quantile(times, 0.5).toFixed(2)];
}

/** A vector between those of two texts of the corpus, and so near neither. */
function nearText(i: number): Float32Array {
  const [left, right] = [vectors[i * 7], madeVector(`asked ${i}`)];
  const between = right.map((number, at) => number + (left?.[at] ?? 0));
  const length = Math.hypot(...between);
  return between.map((number) => number / length);
}

const millions = (count * DIMENSIONS) / 1_000_000;
console.log(
  table(
    ["one question", "least ms", "p50 ms", "p95 ms", "MB"],
    [
      timed("Float32, each compared", 4 * millions, compareAll(new ExactRows(DIMENSIONS))),
      timed("Int8, each compared", millions, compareAll(new RoundedRows(DIMENSIONS))),
      timed("sign bits, plain TypeScript, 1,000 chosen", millions / 8, signCodes(1_000)),
      timed("sign bits, WebAssembly, distances alone", millions / 8, await popcountKernel(count)),
    ],
  ),
);
const exact = filled(new VectorIndex(DIMENSIONS, { exactUpTo: count }));
console.log(
  table(
    ["candidates", "of 10", "of 50", "largest error", "p50 ms"],
    [250, 500, 1_000, 2_000].map((candidates) => [
      candidates.toLocaleString("en"),
      ...missed(filled(new VectorIndex(DIMENSIONS, { candidates })), exact),
    ]),
  ),
);
