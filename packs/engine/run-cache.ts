/**
 * The read-through cache: answers a caller's repeated input from the store, for the pack's TTL.
 *
 * Threat: a caller wants to read another caller's answer, or to plant one. Defence: an answer is stored in the namespace of its
 * caller and under the origin `cache`, which no fact or note can have, whatever its key. The key is a hash of pack, version
 * and validated input. An answer that no longer matches the output schema or lacks an artifact counts as a miss. The hash is
 * not keyed: somebody with the database file but without the key can test guesses of an input (docs/decisions/0019), but
 * cannot read an answer.
 */
import { hash } from "node:crypto";
import * as z from "zod/mini";
import { compareText } from "../../engine/compare-text.ts";
import { asHelmdeckError, type HelmdeckError } from "../../engine/errors.ts";
import type { EntryRef, MemoryStore, UnixMs } from "../../engine/store/memory-store.ts";
import { namespaceOf, type Subject } from "../../engine/store/namespace.ts";
import { requireOutput } from "./define-pack.ts";
import type { ArtifactRef, ArtifactStore, Pack, PackMemoryPolicy } from "./pack-contract.ts";

/** A run's answer, computed or cached. */
export interface PackAnswer {
  readonly output: unknown;
  readonly artifacts: readonly ArtifactRef[];
  readonly cached: boolean;
}

/** The cache slot of one answer. Its methods never throw: a failing cache counts as a miss. */
export interface CacheSlot {
  /** Equal for two runs exactly if they share an answer. */
  readonly id: string;
  read(): Promise<PackAnswer | undefined>;
  write(answer: PackAnswer): Promise<void>;
}

export interface CacheOptions {
  readonly store: MemoryStore;
  readonly artifacts: ArtifactStore;
  readonly now: () => UnixMs;
  /** Called for every failed read and write. */
  readonly onFailure: (error: HelmdeckError, pack: string) => void;
}

/** Larger answers are not cached. */
const MOST_CACHED_BYTES = 1_024 * 1_024;
const DEFAULT_CACHE_CATEGORY = "cache";

const storedAnswer = z.object({
  output: z.unknown(),
  artifacts: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      mediaType: z.string(),
      sizeBytes: z.number(),
      sha256: z.string(),
    }),
  ),
});

/** Undefined if the pack does not use the cache, or this input has no canonical form. */
export function openSlot(
  options: CacheOptions,
  pack: Pack,
  caller: Subject,
  input: unknown,
): CacheSlot | undefined {
  const policy = pack.memory;
  const canonical = canonicalJson(input);
  if (policy?.cache !== true || policy.ttlSeconds === undefined || canonical === undefined) return undefined;
  const lifeMs = policy.ttlSeconds * 1_000;
  const key = `${pack.name}/${hash("sha256", JSON.stringify([pack.name, pack.version, canonical]), "hex")}`;
  const ref = { namespace: namespaceOf(caller), origin: "cache", key } as const;
  return {
    id: JSON.stringify([ref.namespace, ref.key]),
    read: () => orMiss(options, pack, () => readAnswer(options, pack, caller, ref)),
    write: (answer) => orMiss(options, pack, () => writeAnswer(options, pack, ref, answer, policy, lifeMs)),
  };
}

async function readAnswer(
  { store, artifacts }: CacheOptions,
  pack: Pack,
  caller: Subject,
  ref: EntryRef,
): Promise<PackAnswer | undefined> {
  const entry = await store.get(ref);
  const answer = entry && (await parseAnswer(pack, Buffer.from(entry.value).toString()));
  if (answer === undefined) return undefined;
  const kept = await Promise.all(answer.artifacts.map(({ id }) => artifacts.has(caller, id)));
  return kept.every(Boolean) ? answer : undefined;
}

/** Stores only an answer that reads back exactly as the caller gets it now. */
async function writeAnswer(
  { store, now }: CacheOptions,
  pack: Pack,
  ref: EntryRef,
  { output, artifacts }: PackAnswer,
  policy: PackMemoryPolicy,
  lifeMs: number,
): Promise<undefined> {
  const text = JSON.stringify({ output, artifacts });
  if (Buffer.byteLength(text) > MOST_CACHED_BYTES) return;
  const again = await parseAnswer(pack, text);
  if (again === undefined || JSON.stringify(again.output) !== JSON.stringify(output)) return;
  await store.put({
    ...ref,
    value: Buffer.from(text),
    category: policy.category ?? DEFAULT_CACHE_CATEGORY,
    tags: [],
    expiresAt: now() + lifeMs,
  });
}

/** Undefined if the text is not a valid answer of the current pack. */
async function parseAnswer(pack: Pack, text: string): Promise<PackAnswer | undefined> {
  const stored = storedAnswer.safeParse(JSON.parse(text));
  if (!stored.success) return undefined;
  const output = await requireOutput(pack, stored.data.output).catch(() => notAnOutput);
  return output === notAnOutput ? undefined : { output, artifacts: stored.data.artifacts, cached: true };
}

const notAnOutput = Symbol("not an output");

async function orMiss<T>(
  { onFailure }: CacheOptions,
  pack: Pack,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    onFailure(asHelmdeckError(error), pack.name);
    return undefined;
  }
}

/** Deeper than any real input, and far below the stack limit. */
const MOST_LEVELS = 200;

/**
 * Canonical JSON: one text for equal values. Cache keys are made from it.
 *
 * Sorted keys, no white space, -0 as 0, undefined fields left out. Equal texts mean equal values. Strings are not normalized:
 * two encodings of "é" are two values, because a handler can tell them apart.
 *
 * Undefined if JSON cannot express the value (a date, a bigint, an infinite number, a class), or it is nested too deeply.
 */
export function canonicalJson(value: unknown): string | undefined {
  return write(value, MOST_LEVELS);
}

function write(value: unknown, levels: number): string | undefined {
  if (levels === 0) return undefined;
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") return Number.isFinite(value) ? JSON.stringify(value) : undefined;
  if (Array.isArray(value))
    return writeAll(
      "[",
      Array.from(value, (item) => write(item, levels - 1)),
      "]",
    );
  return isPlain(value) ? writeObject(value, levels) : undefined;
}

function writeObject(value: Readonly<Record<string, unknown>>, levels: number): string | undefined {
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, field]) => {
      const text = write(field, levels - 1);
      return text === undefined ? undefined : `${JSON.stringify(name)}:${text}`;
    });
  return writeAll("{", fields, "}");
}

function writeAll(open: string, parts: readonly (string | undefined)[], close: string): string | undefined {
  return parts.includes(undefined) ? undefined : `${open}${parts.join(",")}${close}`;
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    (prototype === Object.prototype || prototype === null) && Object.getOwnPropertySymbols(value).length === 0
  );
}
