/** The pack server: the pack engine, pipelines, the shipped packs, and the server context. */

export { definePack, PACK_LIMITS } from "./engine/define-pack.ts";
export type {
  ArtifactRef,
  ArtifactStore,
  Pack,
  PackContext,
  PackEffects,
  PackEngine,
  PackInfo,
  PackMemory,
  PackNoteOptions,
  PackRequest,
  PackRun,
  Session,
  SessionProvider,
  SessionRequest,
} from "./engine/pack-contract.ts";
export { createPackEngine, type PackEngineOptions } from "./engine/pack-engine.ts";
export { openLocalArtifacts } from "./local/local-artifacts.ts";
export { openLocalSessions } from "./local/local-sessions.ts";
export {
  type OpenServerContextOptions,
  openServerContext,
  type ServerContextTrouble,
} from "./open-server-context.ts";
export type { Pipeline, PipelineInput, PipelineRun, PipelineRunner } from "./pipelines/pipeline-contract.ts";
export type { ServerContext } from "./server-context.ts";
export { packSettings } from "./shipped/pack-settings.ts";
export { shippedPacks } from "./shipped/shipped-packs.ts";
export {
  packInfoReply,
  packInfoSchema,
  packsReplySchema,
  pipelinesReply,
  pipelinesReplySchema,
} from "./wire/catalogue.ts";
export {
  packRunReply,
  packRunReplySchema,
  pipelineRunReply,
  pipelineRunReplySchema,
} from "./wire/run-replies.ts";
