/** What clients receive when they ask which packs and pipelines there are. */
import * as z from "zod";
import type { PackInfo } from "../engine/pack-contract.ts";
import type { Pipeline } from "../pipelines/pipeline-contract.ts";

const jsonSchema = z.record(z.string(), z.unknown()).meta({ description: "JSON Schema 2020-12." });

const packInfoSchema = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  input_schema: jsonSchema,
  output_schema: jsonSchema,
  starts_process: z.boolean().meta({ description: "Runs for authenticated callers only." }),
  cached: z.boolean().meta({ description: "A repeated input is answered from the cache for a while." }),
});

export const packsReplySchema = z.object({
  packs: z.array(packInfoSchema).meta({ description: "In order of name." }),
});

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

export const pipelinesReplySchema = z.object({
  pipelines: z.array(pipelineInfoSchema).meta({ description: "In order of id." }),
});

export type PacksReply = z.infer<typeof packsReplySchema>;
export type PipelinesReply = z.infer<typeof pipelinesReplySchema>;

export function packsReply(packs: readonly PackInfo[]): PacksReply {
  return {
    packs: packs.map(({ name, version, description, ...pack }) => ({
      name,
      version,
      description,
      input_schema: { ...pack.inputSchema },
      output_schema: { ...pack.outputSchema },
      starts_process: pack.startsProcess,
      cached: pack.cached,
    })),
  };
}

export function pipelinesReply(pipelines: readonly Pipeline[]): PipelinesReply {
  return {
    pipelines: pipelines.map(({ id, description, inputs, steps }) => ({
      id,
      description,
      inputs: { ...inputs },
      steps: steps.map((step) => ({ id: step.id, pack: step.pack })),
    })),
  };
}
