/** Opens everything a server serves, in order, and closes it in the other: memory, packs, pipelines, what packs work with. */
import { dirname, join } from "node:path";
import {
  asHelmdeckError,
  createPackEngine,
  createPipelineRunner,
  type HelmdeckError,
  type PackEngine,
} from "../../engine/index.ts";
import { shippedPacks } from "../packs/index.ts";
import { type PackSettings, packSettings } from "../packs/settings.ts";
import { loadPipelines } from "../pipelines/load.ts";
import type { Deck } from "./contract.ts";
import { type DeckMemory, type DeckMemoryOptions, openDeckMemory } from "./deck-memory.ts";
import { openWorkFolder, type WorkFolder } from "./work-folder.ts";

export interface OpenDeckOptions extends DeckMemoryOptions {
  /** For sessions and artifacts of packs; default `helmdeck-memory-work` beside the key. */
  readonly workFolder?: string;
  /** Of packs; wins over what the environment says. */
  readonly packSettings?: Partial<PackSettings>;
  /** The operator's own pipelines, beside those that ship. */
  readonly pipelinesFolder?: string;
  /** How long `close` waits for pipelines, and then for packs, before it cancels them; default 5 s each. */
  readonly closeGraceMs?: number;
  /** Told of what fails behind a run that is answered all the same. */
  readonly onTrouble?: (trouble: DeckTrouble) => void;
}

export interface DeckTrouble {
  /** An audit row that was not written, or a cache that was not read or written. */
  readonly what: "audit" | "cache";
  readonly error: HelmdeckError;
  /** Of which pack; absent for a pipeline. */
  readonly pack?: string;
}

/**
 * Memory that does not open is a state of the deck, not an error. Throws `invalid_input` for what an operator must mend
 * before anything can be served: a pipeline that is unsound (with file and line), a setting that cannot be used.
 */
export async function openDeck(options: OpenDeckOptions): Promise<Deck> {
  const deckMemory = await openDeckMemory(options);
  try {
    return await openOver(deckMemory, options);
  } catch (error) {
    await deckMemory.memory.close();
    throw error;
  }
}

async function openOver(deckMemory: DeckMemory, options: OpenDeckOptions): Promise<Deck> {
  const { env, keyPath, pipelinesFolder } = options;
  const { memory, state } = deckMemory;
  const now = clockOf(deckMemory, options);
  const folder = options.workFolder ?? join(dirname(keyPath), "helmdeck-memory-work");
  const work = await openWorkFolder({ folder, env, now });
  const packs = openPacks(deckMemory, work, options);
  const pipelines = createPipelineRunner({
    pipelines: await loadPipelines({
      packs: new Set(packs.list().map(({ name }) => name)),
      ...(pipelinesFolder !== undefined && { folder: pipelinesFolder }),
    }),
    packs,
    record: async (caller, row) => deckMemory.open?.recordPipelineRun(caller, row),
    onRecordFailure: (error) => options.onTrouble?.({ what: "audit", error: asHelmdeckError(error) }),
    now,
    ...graceOf(options),
  });
  let closing: Promise<void> | undefined;
  return {
    memory,
    memoryState: state,
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

/** Without a store the packs run as if memory had never been thought of. */
function openPacks(deckMemory: DeckMemory, work: WorkFolder, options: OpenDeckOptions): PackEngine {
  const { memory, open } = deckMemory;
  const { env, onTrouble } = options;
  return createPackEngine({
    packs: shippedPacks({ memory, ...packSettings(env), ...options.packSettings }),
    ...(open && { store: open.store, recordRun: open.recordPackRun }),
    ...work,
    now: clockOf(deckMemory, options),
    onAuditFailure: (error, { pack }) => onTrouble?.({ what: "audit", error, pack }),
    onCacheFailure: (error, pack) => onTrouble?.({ what: "cache", error, pack }),
    ...graceOf(options),
  });
}

/** Lives are counted from the time by which the store ends them. */
function clockOf({ open }: DeckMemory, { now = Date.now }: OpenDeckOptions): () => number {
  return open === undefined ? now : open.now;
}

function graceOf({ closeGraceMs }: OpenDeckOptions): { readonly closeGraceMs?: number } {
  return closeGraceMs === undefined ? {} : { closeGraceMs };
}

/** All of them, also when one fails; then the first failure is thrown. */
async function closeInTurn(all: readonly { close(): Promise<void> }[]): Promise<void> {
  const failures: unknown[] = [];
  for (const one of all) await one.close().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
