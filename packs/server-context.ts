/**
 * Everything that a server serves: memory (or the reason for its absence), packs, pipelines, sessions and artifacts.
 *
 * Sessions and artifacts are in a work folder, and opened at first use: a server that needs neither creates no folder, and one
 * whose folder is not writable still serves everything else. If an earlier server left files, they are opened at once, to end
 * its processes and delete expired files.
 */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Audit, AuditActor } from "../app/audit-log.ts";
import type { OpenMemory } from "../app/compose.ts";
import type { Memory } from "../app/memory.ts";
import type { MemoryState } from "../app/memory-state.ts";
import { type MemoryToServe, type MemoryToServeOptions, openMemoryToServe } from "../app/memory-to-serve.ts";
import { auditedMemory } from "../app/operations/index.ts";
import { Sweeper } from "../app/sweeper.ts";
import { defined } from "../engine/defined.ts";
import { asHelmdeckError, type HelmdeckError } from "../engine/errors.ts";
import type { UnixMs } from "../engine/store/memory-store.ts";
import type { ArtifactStore, Pack, PackEngine, SessionProvider } from "./engine/pack-contract.ts";
import { createPackEngine } from "./engine/pack-engine.ts";
import { openLocalArtifacts } from "./local/local-artifacts.ts";
import { openLocalSessions } from "./local/local-sessions.ts";
import { loadPipelines } from "./pipelines/load-pipelines.ts";
import type { PipelineRunner } from "./pipelines/pipeline-contract.ts";
import { createPipelineRunner } from "./pipelines/pipeline-runner.ts";
import { type PackSettings, packSettings, shippedPacks } from "./shipped/shipped-packs.ts";

export interface ServerContext {
  /** Absent: nothing is recorded. */
  readonly audit?: Audit;
  /** If memory is unavailable, every call throws `memory_unavailable` with the reason; packs still run. */
  readonly memory: Memory;
  readonly memoryState: MemoryState;
  readonly watch?: OpenMemory["watch"];
  readonly gauges?: OpenMemory["gauges"];
  readonly packs: PackEngine;
  readonly pipelines: PipelineRunner;
  readonly artifacts: ArtifactStore;
  /** Finishes accepted work, then closes memory. Idempotent. */
  close(): Promise<void>;
}

export interface OpenServerContextOptions extends MemoryToServeOptions {
  /** For sessions and artifacts of packs; default `helmdeck-memory-work` next to the key. */
  readonly workFolder?: string;
  /** Settings of packs; override the environment. */
  readonly packSettings?: Partial<PackSettings>;
  /** The operator's own packs, in addition to the shipped ones. */
  readonly packsFolder?: string;
  /** The operator's own pipelines, in addition to the shipped ones. */
  readonly pipelinesFolder?: string;
  /** Time that `close` waits for pipelines, and then for packs, before it cancels them; default 5 s each. */
  readonly closeGraceMs?: number;
  /** The audit log. `operator`: acts for every caller, if it started this process for itself. */
  readonly audit?: Audit;
  readonly operator?: AuditActor;
  /** Called for failures that do not affect a run's answer. */
  readonly onTrouble?: (trouble: ServerContextTrouble) => void;
}

export interface ServerContextTrouble {
  /** An audit row that was not written, or a failed cache read or write. */
  readonly what: "audit" | "cache";
  readonly error: HelmdeckError;
  /** The pack; absent for a pipeline. */
  readonly pack?: string;
}

/**
 * Opens a server's parts in order (memory, packs, pipelines, work folder) and closes them in reverse order.
 *
 * A memory that does not open is a state of the server context, not an error. Throws `invalid_input` for problems that the
 * operator must fix first: an invalid pack or pipeline (with its file), or an unusable setting.
 */
export async function openServerContext(options: OpenServerContextOptions): Promise<ServerContext> {
  const opened = await openMemoryToServe(options);
  const { audit, operator } = options;
  const memory = audit === undefined ? opened.memory : auditedMemory(opened.memory, audit, operator);
  try {
    return await openOver({ ...opened, memory }, options);
  } catch (error) {
    await opened.memory.close();
    throw error;
  }
}

async function openOver(opened: MemoryToServe, options: OpenServerContextOptions): Promise<ServerContext> {
  const { env, keyPath, pipelinesFolder: folder, onTrouble, closeGraceMs } = options;
  const { memory, state } = opened;
  const { now } = memory;
  const workFolder = options.workFolder ?? join(dirname(keyPath), "helmdeck-memory-work");
  const all = await allPacks(opened, options);
  const work = await openWorkFolder({ folder: workFolder, env, now });
  const packs = createPackEngine({
    packs: all,
    store: memory.store,
    recordRun: memory.recordPackRun,
    ...work,
    now,
    onAuditFailure: (error, { pack }) => onTrouble?.({ what: "audit", error, pack }),
    onCacheFailure: (error, pack) => onTrouble?.({ what: "cache", error, pack }),
    ...defined({ closeGraceMs }),
  });
  const names = new Set(packs.list().map(({ name }) => name));
  const pipelines = createPipelineRunner({
    pipelines: await loadPipelines({ packs: names, ...defined({ folder }) }),
    packs,
    record: (caller, row) => memory.recordPipelineRun(caller, row),
    onRecordFailure: (error) => onTrouble?.({ what: "audit", error: asHelmdeckError(error) }),
    now,
    ...defined({ closeGraceMs }),
  });
  let closing: Promise<void> | undefined;
  return {
    memory,
    memoryState: state,
    ...defined({ audit: options.audit, watch: memory.watch }),
    gauges: memory.gauges,
    packs,
    pipelines,
    artifacts: work.artifacts,
    close: () => {
      // Pipelines run packs, packs use sessions and artifacts, and all of them write to memory until they end.
      closing ??= closeInTurn([pipelines, packs, work.sessions, work.artifacts, memory]);
      return closing;
    },
  };
}

async function allPacks(
  { memory }: MemoryToServe,
  { env, packSettings: settings, packsFolder }: OpenServerContextOptions,
): Promise<readonly Pack[]> {
  const shipped = shippedPacks({ memory, ...packSettings(env), ...settings });
  if (packsFolder === undefined) return shipped;
  const { loadPacks } = await import("./own/load-packs.ts"); // loads all of zod
  return [...shipped, ...(await loadPacks(packsFolder, new Set(shipped.map(({ name }) => name))))];
}

/** Closes all of them even if one fails, then throws the first failure. */
async function closeInTurn(all: readonly { close(): Promise<void> }[]): Promise<void> {
  const failures: unknown[] = [];
  for (const one of all) await one.close().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

const SWEEP_EVERY_MS = 6 * 3_600 * 1_000;
/** Time for a caller to continue in a session by its id. Another run of that caller may replace it earlier. */
const KEEP_SESSIONS_MS = 5 * 60 * 1_000;

export interface WorkFolder {
  readonly sessions: SessionProvider;
  readonly artifacts: ArtifactStore;
}

interface WorkFolderOptions {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => UnixMs;
}

export async function openWorkFolder({ folder, env, now }: WorkFolderOptions): Promise<WorkFolder> {
  const roots = { sessions: join(folder, "sessions"), artifacts: join(folder, "artifacts") };
  const sessions = lazily(() => openLocalSessions({ root: roots.sessions, env, keepMs: KEEP_SESSIONS_MS }));
  const artifacts = lazily(() => openLocalArtifacts({ root: roots.artifacts, now }));
  const leftBehind = [existsSync(roots.sessions) && sessions, existsSync(roots.artifacts) && artifacts];
  for (const one of leftBehind) if (one) await one.get().catch(() => undefined); // reported at first use
  const sweeper = new Sweeper({
    sweep: async () => (await artifacts.current())?.sweep(),
    everyMs: SWEEP_EVERY_MS,
  });
  return {
    sessions: {
      acquire: async (request) => (await sessions.get()).acquire(request),
      release: async (session) => (await sessions.get()).release(session),
      close: async () => (await sessions.current())?.close(),
    },
    artifacts: {
      put: async (caller, artifact) => (await artifacts.get()).put(caller, artifact),
      get: async (caller, id) => (await artifacts.get()).get(caller, id),
      has: async (caller, id) => (await artifacts.get()).has(caller, id),
      delete: async (caller, id) => (await artifacts.get()).delete(caller, id),
      close: async () => {
        await sweeper.stop();
        await (await artifacts.current())?.close();
      },
    },
  };
}

/** Opens a resource once, at first use. After a failure, the next use tries again. */
function lazily<T>(open: () => Promise<T>) {
  let opened: Promise<T> | undefined;
  return {
    get: (): Promise<T> => {
      opened ??= open().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
    /** The open resource, if any. */
    current: async (): Promise<T | undefined> => opened?.catch(() => undefined),
  };
}
