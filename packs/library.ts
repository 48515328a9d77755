/**
 * The API for pack authors: `import … from "helmdeck-memory/packs"`.
 *
 * @module helmdeck-memory/packs
 */
export * as z from "zod";
export type { Fingerprint, UnixMs } from "../engine/store/memory-store.ts";
export type { Subject } from "../engine/store/namespace.ts";

import { PackFailure } from "./engine/define-pack.ts";

export { definePack, PACK_LIMITS } from "./engine/define-pack.ts";
export type {
  ArtifactRef,
  ArtifactSink,
  NewArtifact,
  Pack,
  PackContext,
  PackEffects,
  PackMemory,
  PackMemoryPolicy,
  PackNote,
  PackNoteMeta,
  PackNoteOptions,
  ProcessOptions,
  ProcessResult,
  Session,
} from "./engine/pack-contract.ts";
export type { PackMaker, PackMakerContext } from "./own/load-packs.ts";

/** An error to throw from a failed run: the message for the caller, and the run's output, such as `{ lint: { findings } }`. */
export function failure(message: string, output?: unknown): Error {
  return new PackFailure(message, output);
}
