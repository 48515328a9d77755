/**
 * The read-through cache: a repeated input of one caller is answered from the store, for as long as the pack says.
 *
 * Who attacks: a caller who wants another's answer, or wants to plant one. What stops them: an answer lives in the
 * namespace of the caller it was made for and under the origin `cache`, which no fact and no note can have, whatever its
 * key; the key is a hash over pack, version and the validated input; and what is read back must still fit the output schema
 * and have all its artifacts, or it counts as a miss. The hash is not keyed: who has the database file but no key can test
 * guesses of an input (docs/decisions/0019), never read an answer.
 */
import { hash } from "node:crypto";
import * as z from "zod/mini";
import {
  asHelmdeckError,
  type EntryRef,
  type HelmdeckError,
  type MemoryStore,
  namespaceOf,
  type Subject,
  type UnixMs,
} from "../../engine/index.ts";
import { canonicalJson } from "./canonical-json.ts";
import type { ArtifactRef, ArtifactStore, Pack, PackMemoryPolicy } from "./pack-contract.ts";
import { requireOutput } from "./validate-run.ts";

/** What a run answers with, however it came by it. */
export interface PackAnswer {
  readonly output: unknown;
  readonly artifacts: readonly ArtifactRef[];
  readonly cached: boolean;
}

/** The place of one answer. Neither of its methods ever throws: a cache that fails is a cache that misses. */
export interface CacheSlot {
  /** The same for two runs exactly when one's answer is the other's. */
  readonly id: string;
  read(): Promise<PackAnswer | undefined>;
  write(answer: PackAnswer): Promise<void>;
}

export interface CacheOptions {
  readonly store: MemoryStore;
  readonly artifacts: ArtifactStore;
  readonly now: () => UnixMs;
  /** Told of every read and write that failed. */
  readonly onFailure: (error: HelmdeckError, pack: string) => void;
}

/** Answers beyond this are made anew each time. */
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

/** Undefined when the pack asked for no cache, or this input has no canonical form. */
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
  const ref = { namespace: namespaceOf(caller), origin: "cache", key: keyOf(pack, canonical) } as const;
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

/** Keeps nothing that would not come back, byte for byte, as what the caller is told now. */
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

/** Undefined when it is no answer that this pack, as it is now, could give. */
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

function keyOf(pack: Pack, canonical: string): string {
  return `${pack.name}/${hash("sha256", JSON.stringify([pack.name, pack.version, canonical]), "hex")}`;
}
