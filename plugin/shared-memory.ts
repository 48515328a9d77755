/**
 * One open memory for all registrations of a process.
 *
 * OpenClaw evaluates this plugin's module twice, for the gateway itself and for the tools of agent runs, and uses both
 * copies. Without sharing, there would be two databases, two indexes and two workers. The copies have no module variable in
 * common, so they use a process-wide registry of leases; releasing the last lease closes the memory. Copies with different
 * builds, locations, keys, embedding services or recall settings never share.
 */
import { createHash } from "node:crypto";
import type { EmbeddingSettings } from "../app/embedding/embedding-settings.ts";
import type { Memory } from "../app/memory.ts";
import type { RecallMode } from "../engine/answer-limits.ts";

/** Set by the build: a fingerprint of the sources. */
declare const __HELMDECK_BUILD__: string | undefined;
const BUILD = typeof __HELMDECK_BUILD__ === "string" ? __HELMDECK_BUILD__ : "source";

/** A lease on an open memory. */
export interface Lease {
  readonly memory: Memory;
  /** Releases the lease; the last release closes the memory. Idempotent. */
  release(): Promise<void>;
}

/** Two registrations share a memory only if all of these are equal. */
export interface SharedPlace {
  /** Default: this one. */
  readonly build?: string;
  readonly databasePath: string;
  readonly keyPath: string;
  readonly configuredKey?: string | undefined;
  readonly embeddings: EmbeddingSettings;
  readonly recall: RecallMode;
  readonly lifetimeDays?: number | undefined;
}

interface Shared {
  readonly memory: Memory;
  leases: number;
}

export interface SharedMemories {
  readonly open: Map<string, Shared>;
  /** Memories that are closing. A new lease on the same location waits for the close. */
  readonly closing: Map<string, Promise<void>>;
}

/** Changes with the shape of {@link SharedMemories}, because another version's copy may still be loaded. */
const REGISTRY = Symbol.for("helmdeck-memory/shared/1");

/** Leases the memory at this location; the first lease calls `start`. */
export async function leaseMemory(
  place: SharedPlace,
  start: () => Memory,
  memories: SharedMemories = processMemories(),
): Promise<Lease> {
  const id = idOf(place);
  while (memories.closing.has(id)) await memories.closing.get(id);
  const shared = memories.open.get(id) ?? { memory: start(), leases: 0 };
  memories.open.set(id, shared);
  shared.leases += 1;
  let released: Promise<void> | undefined;
  return {
    memory: shared.memory,
    release() {
      released ??= giveBack(id, shared, memories);
      return released;
    },
  };
}

async function giveBack(id: string, shared: Shared, memories: SharedMemories): Promise<void> {
  shared.leases -= 1;
  if (shared.leases > 0) return;
  memories.open.delete(id);
  const closing = shared.memory.close().catch(() => undefined);
  memories.closing.set(id, closing);
  await closing;
  if (memories.closing.get(id) === closing) memories.closing.delete(id);
}

/** Hashed, so that the key does not appear in a name that a heap dump or a debugger lists. */
function idOf({ build = BUILD, databasePath, keyPath, ...settings }: SharedPlace): string {
  const { configuredKey = "", embeddings, recall, lifetimeDays } = settings;
  const secret = JSON.stringify([configuredKey, embeddings, recall, lifetimeDays]);
  return JSON.stringify([build, databasePath, keyPath, createHash("sha256").update(secret).digest("hex")]);
}

function processMemories(): SharedMemories {
  const found: unknown = Reflect.get(globalThis, REGISTRY);
  // Only this function, in this or another copy of the module, writes under this symbol.
  if (found !== undefined) return found as SharedMemories;
  const made: SharedMemories = { open: new Map(), closing: new Map() };
  Reflect.set(globalThis, REGISTRY, made);
  return made;
}
