/** Replies for the lists of packs and pipelines. */
import * as z from "zod";
import { rfc3339Schema, wholeNumber } from "../app/wire/fields.ts";
import { defined } from "../engine/defined.ts";
import { rfc3339 } from "../engine/rfc3339.ts";
import type { PackInfo, PackRun } from "./engine/pack-contract.ts";
import type { Pipeline, PipelineRun } from "./pipelines/pipeline-contract.ts";

const jsonSchema = z.record(z.string(), z.unknown()).describe("JSON Schema 2020-12.");

export const packInfoSchema = z.object({
  name: z.string(),
  title: z.string().describe("For people."),
  version: z.string(),
  versions: z.array(z.string()).describe("The available version."),
  latest: z.string(),
  description: z.string(),
  input_schema: jsonSchema,
  output_schema: jsonSchema,
  starts_process: z.boolean().describe("Runs for authenticated callers only."),
  cached: z.boolean().describe("Repeated inputs are answered from the cache for a while."),
});

export const packsReplySchema = z.array(packInfoSchema).describe("Sorted by name.");

const pipelineInfoSchema = z.object({
  id: z.string(),
  description: z.string(),
  inputs: z.record(
    z.string(),
    z.object({
      description: z.string().optional(),
      required: z.boolean(),
      default: z.unknown().optional(),
    }),
  ),
  steps: z.array(z.object({ id: z.string(), pack: z.string() })),
});

export const pipelinesReplySchema = z.array(pipelineInfoSchema).describe("Sorted by id.");

export type PackInfoReply = z.infer<typeof packInfoSchema>;
export type PipelinesReply = z.infer<typeof pipelinesReplySchema>;

/** `versions` and `latest` are for helmdeck's own clients. */
export function packInfoReply({ name, title, version, description, ...pack }: PackInfo): PackInfoReply {
  return {
    name,
    title,
    version,
    versions: [version],
    latest: version,
    description,
    input_schema: { ...pack.inputSchema },
    output_schema: { ...pack.outputSchema },
    starts_process: pack.startsProcess,
    cached: pack.cached,
  };
}

export function pipelinesReply(pipelines: readonly Pipeline[]): PipelinesReply {
  return pipelines.map(({ id, description, inputs, steps }) => ({
    id,
    description,
    inputs: { ...inputs },
    steps: steps.map((step) => ({ id: step.id, pack: step.pack })),
  }));
}

const artifactSchema = z.object({
  id: z.string().describe("The id to request it by."),
  name: z.string().describe("A label from the pack, never a path."),
  media_type: z.string(),
  size_bytes: wholeNumber,
  sha256: z.string(),
});

const durationMs = z.number().min(0).describe("Milliseconds.");

export const packRunReplySchema = z.object({
  pack: z.string(),
  version: z.string(),
  output: z.unknown().describe("According to the pack's output schema."),
  artifacts: z.array(artifactSchema).optional(),
  duration_ms: durationMs,
  session_id: z.string().optional().describe("Send it again to continue in the same session."),
  cached: z.boolean().describe("The answer comes from an earlier run with the same input."),
});

const runFailureSchema = z.object({ code: z.string(), message: z.string() });

const pipelineStepSchema = z.object({
  id: z.string(),
  pack: z.string(),
  state: z.enum(["waiting", "running", "succeeded", "failed", "cancelled"]),
  duration_ms: durationMs.optional(),
  error: runFailureSchema.optional(),
});

export const pipelineRunReplySchema = z.object({
  run_id: z.string(),
  pipeline: z.string(),
  state: z.enum(["running", "succeeded", "failed", "cancelled"]),
  started_at: rfc3339Schema("When the run began."),
  duration_ms: durationMs.optional(),
  steps: z.array(pipelineStepSchema),
  output: z.unknown().optional().describe("Present if the run succeeded."),
  error: runFailureSchema.optional().describe("Present if the run failed."),
});

export type PackRunReply = z.infer<typeof packRunReplySchema>;
export type PipelineRunReply = z.infer<typeof pipelineRunReplySchema>;

/**
 * Replies for runs of packs and pipelines, for REST and MCP clients.
 *
 * `duration_ms` is in milliseconds; helmdeck's field of that name is not.
 */
export function packRunReply(run: PackRun): PackRunReply {
  const artifacts = run.artifacts.map(({ id, name, mediaType, sizeBytes, sha256 }) => ({
    ...{ id, name, media_type: mediaType, size_bytes: sizeBytes, sha256 },
  }));
  return {
    pack: run.pack,
    version: run.version,
    output: run.output,
    ...(artifacts.length > 0 && { artifacts }),
    duration_ms: run.durationMs,
    ...defined({ session_id: run.sessionId }),
    cached: run.cached,
  };
}

export function pipelineRunReply(run: PipelineRun): PipelineRunReply {
  return {
    run_id: run.runId,
    pipeline: run.pipeline,
    state: run.state,
    started_at: rfc3339(run.startedAt),
    ...defined({ duration_ms: run.durationMs }),
    steps: run.steps.map(({ durationMs: duration_ms, error, ...step }) => ({
      ...step,
      ...defined({ duration_ms, error }),
    })),
    ...defined({ output: run.output, error: run.error }),
  };
}
