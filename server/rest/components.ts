/** Schemas with their names in the OpenAPI description, each described once. */
import type { z } from "@hono/zod-openapi";
import { callerReplySchema, ownStatusReplySchema } from "../../app/wire/caller-schemas.ts";
import { errorReplySchema } from "../../app/wire/error-schema.ts";
import { readinessReplySchema, versionReplySchema } from "../../app/wire/health-schemas.ts";
import { recordedReplySchema, runRequestSchema } from "../../app/wire/run-schemas.ts";
import { packInfoSchema, packsReplySchema, pipelinesReplySchema } from "../../packs/wire/catalogue.ts";
import { packRunReplySchema, pipelineRunReplySchema } from "../../packs/wire/run-replies.ts";

export function named<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  // Schemas created before the library added its method do not have it; a new copy does.
  return schema.clone().openapi(name);
}

export const failure = named("Failure", errorReplySchema);
export const runRequest = named("RunRequest", runRequestSchema);
export const recorded = named("Recorded", recordedReplySchema);
/** Without its own name, because few clients read it. */
export const readiness = readinessReplySchema;
export const version = versionReplySchema;
export const caller = named("Caller", callerReplySchema);
export const ownStatus = named("OwnStatus", ownStatusReplySchema);
export const pack = named("Pack", packInfoSchema);
export const packs = named("Packs", packsReplySchema);
export const packRun = named("PackRun", packRunReplySchema);
export const pipelines = named("Pipelines", pipelinesReplySchema);
export const pipelineRun = named("PipelineRun", pipelineRunReplySchema);
