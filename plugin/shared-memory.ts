/**
 * One open memory for all registrations of a process.
 *
 * OpenClaw evaluates this plugin's module once for the gateway itself and once more for the tools of agent runs, each copy
 * with its own closures, and asks both. Two copies would mean two databases, two indexes and two workers. They cannot share
 * a module's variable, so they meet in a process-wide registry of leases, where the last one to leave closes. Copies of
 * different builds, places, keys, embedding services or settings of recall never meet.
 */
import { createHash } from "node:crypto";
import type { EmbeddingSettings, Memory, RecallMode } from "../app/index.ts";

/** A share in an open memory. */
export interface Lease {
  readonly memory: Memory;
  /** Gives the share back; the last one closes the memory. Idempotent. */
  release(): Promise<void>;
}

/** What must be equal for two registrations to share. */
export interface SharedPlace {
  readonly build: string;
  readonly databasePath: string;
  readonly keyPath: string;
  readonly configuredKey?: string | undefined;
  readonly embeddings: EmbeddingSettings;
  readonly recall: RecallMode;
}

interface Shared {
  readonly memory: Memory;
  leases: number;
}

export interface SharedMemories {
  readonly open: Map<string, Shared>;
  /** Those that are just being closed; whoever comes back to the same place waits for it. */
  readonly closing: Map<string, Promise<void>>;
}

/** Changes with the shape of {@link SharedMemories}, since another version's copy may still be there. */
const REGISTRY = Symbol.for("helmdeck-memory/shared/1");

/** A share in the memory of this place, which `start` makes for the first who asks. */
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

/** Keys themselves must not stand in a name that a heap dump or a debugger lists first. */
function idOf({ build, databasePath, keyPath, ...settings }: SharedPlace): string {
  const { configuredKey = "", embeddings, recall } = settings;
  const secret = JSON.stringify([configuredKey, embeddings, recall]);
  return JSON.stringify([build, databasePath, keyPath, createHash("sha256").update(secret).digest("hex")]);
}

function processMemories(): SharedMemories {
  const found: unknown = Reflect.get(globalThis, REGISTRY);
  // Whatever stands under this symbol was put there by this function, in this or another copy of the module.
  if (found !== undefined) return found as SharedMemories;
  const made: SharedMemories = { open: new Map(), closing: new Map() };
  Reflect.set(globalThis, REGISTRY, made);
  return made;
}
