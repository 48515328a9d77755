/** The wire schemas with their names in the OpenAPI description, each described once. */
import type { z } from "@hono/zod-openapi";
import {
  callerReplySchema,
  callersReplySchema,
  corpusReplySchema,
  defaultsReplySchema,
  documentReplySchema,
  documentRequestSchema,
  errorReplySchema,
  explainedSearchReplySchema,
  explainedSearchRequestSchema,
  factSchema,
  factsReplySchema,
  forgetReplySchema,
  forgetRequestSchema,
  growthReplySchema,
  historyReplySchema,
  hostStoreRequestSchema,
  myMemoryReplySchema,
  ownStatusReplySchema,
  readinessReplySchema,
  recordedReplySchema,
  renewRequestSchema,
  revisionReplySchema,
  runRequestSchema,
  runsReplySchema,
  storeReplySchema,
  undoReplySchema,
  undoRequestSchema,
  versionReplySchema,
} from "../../app/index.ts";
import {
  packInfoSchema,
  packRunReplySchema,
  packsReplySchema,
  pipelineRunReplySchema,
  pipelinesReplySchema,
} from "../../packs/index.ts";

function named<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  // Schemas created before the library added its method do not have it; a new copy does.
  return schema.clone().openapi(name);
}

export const failure = named("Failure", errorReplySchema);
export const storeRequest = named("StoreRequest", hostStoreRequestSchema);
export const storeReply = named("StoreReply", storeReplySchema);
export const forgetRequest = named("ForgetRequest", forgetRequestSchema);
export const forgetReply = named("ForgetReply", forgetReplySchema);
export const history = named("History", historyReplySchema);
export const renewRequest = named("RenewRequest", renewRequestSchema);
export const undoRequest = named("UndoRequest", undoRequestSchema);
export const undoReply = named("UndoReply", undoReplySchema);
export const fact = named("Fact", factSchema);
export const facts = named("Facts", factsReplySchema);
export const searchRequest = named("SearchRequest", explainedSearchRequestSchema);
export const searchReply = named("SearchReply", explainedSearchReplySchema);
export const documentRequest = named("DocumentRequest", documentRequestSchema);
export const document = named("Document", documentReplySchema);
export const runRequest = named("RunRequest", runRequestSchema);
export const runs = named("Runs", runsReplySchema);
export const growth = named("Growth", growthReplySchema);
export const recorded = named("Recorded", recordedReplySchema);
/** Without its own name, because few clients read it. */
export const readiness = readinessReplySchema;
export const version = versionReplySchema;
export const caller = named("Caller", callerReplySchema);
export const ownStatus = named("OwnStatus", ownStatusReplySchema);
export const revision = named("Revision", revisionReplySchema);
export const corpus = named("Corpus", corpusReplySchema);
export const myMemory = named("MyMemory", myMemoryReplySchema);
export const defaults = named("Defaults", defaultsReplySchema);
export const callers = named("Callers", callersReplySchema);
export const pack = named("Pack", packInfoSchema);
export const packs = named("Packs", packsReplySchema);
export const packRun = named("PackRun", packRunReplySchema);
export const pipelines = named("Pipelines", pipelinesReplySchema);
export const pipelineRun = named("PipelineRun", pipelineRunReplySchema);
