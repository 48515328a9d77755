/** Everything that a server serves: memory (or the reason for its absence), packs, pipelines, artifacts. */

import { dirname, join } from "node:path";
import type { Audit, AuditActor } from "../app/audit-log.ts";
import type { OpenMemory } from "../app/compose.ts";
import type { Memory } from "../app/memory.ts";
import type { MemoryState } from "../app/memory-state.ts";
import { type MemoryToServe, type MemoryToServeOptions, openMemoryToServe } from "../app/memory-to-serve.ts";
import { auditedMemory } from "../app/operations/index.ts";
import { defined } from "../engine/defined.ts";
import { asHelmdeckError, type HelmdeckError } from "../engine/errors.ts";
import type { ArtifactStore, Pack, PackEngine } from "./engine/pack-contract.ts";
import { createPackEngine } from "./engine/pack-engine.ts";
import { loadPipelines } from "./pipelines/load-pipelines.ts";
import type { PipelineRunner } from "./pipelines/pipeline-contract.ts";
import { createPipelineRunner } from "./pipelines/pipeline-runner.ts";
import { type PackSettings, packSettings } from "./shipped/pack-settings.ts";
import { shippedPacks } from "./shipped/shipped-packs.ts";
import { openWorkFolder, type WorkFolder } from "./work-folder.ts";

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
  const { env, keyPath, pipelinesFolder } = options;
  const { memory, state } = opened;
  const { now } = memory;
  const folder = options.workFolder ?? join(dirname(keyPath), "helmdeck-memory-work");
  const all = await allPacks(opened, options);
  const work = await openWorkFolder({ folder, env, now });
  const packs = openPacks(all, opened, work, options);
  const pipelines = createPipelineRunner({
    pipelines: await loadPipelines({
      packs: new Set(packs.list().map(({ name }) => name)),
      ...defined({ folder: pipelinesFolder }),
    }),
    packs,
    record: (caller, row) => memory.recordPipelineRun(caller, row),
    onRecordFailure: (error) => options.onTrouble?.({ what: "audit", error: asHelmdeckError(error) }),
    now,
    ...graceOf(options),
  });
  let closing: Promise<void> | undefined;
  return {
    memory,
    memoryState: state,
    ...defined({ audit: options.audit }),
    ...defined({ watch: memory.watch }),
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

function openPacks(
  packs: readonly Pack[],
  { memory }: MemoryToServe,
  work: WorkFolder,
  options: OpenServerContextOptions,
): PackEngine {
  const { onTrouble } = options;
  return createPackEngine({
    packs,
    store: memory.store,
    recordRun: memory.recordPackRun,
    ...work,
    now: memory.now,
    onAuditFailure: (error, { pack }) => onTrouble?.({ what: "audit", error, pack }),
    onCacheFailure: (error, pack) => onTrouble?.({ what: "cache", error, pack }),
    ...graceOf(options),
  });
}

function graceOf({ closeGraceMs }: OpenServerContextOptions): { readonly closeGraceMs?: number } {
  return closeGraceMs === undefined ? {} : { closeGraceMs };
}

/** Closes all of them even if one fails, then throws the first failure. */
async function closeInTurn(all: readonly { close(): Promise<void> }[]): Promise<void> {
  const failures: unknown[] = [];
  for (const one of all) await one.close().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
