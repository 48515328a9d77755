/** Replies for the lists of packs and pipelines. */
import * as z from "zod";
import type { PackInfo } from "../engine/pack-contract.ts";
import type { Pipeline } from "../pipelines/pipeline-contract.ts";

const jsonSchema = z.record(z.string(), z.unknown()).meta({ description: "JSON Schema 2020-12." });

export const packInfoSchema = z.object({
  name: z.string(),
  title: z.string().meta({ description: "For people." }),
  version: z.string(),
  versions: z.array(z.string()).meta({ description: "The available version." }),
  latest: z.string(),
  description: z.string(),
  input_schema: jsonSchema,
  output_schema: jsonSchema,
  starts_process: z.boolean().meta({ description: "Runs for authenticated callers only." }),
  cached: z.boolean().meta({ description: "Repeated inputs are answered from the cache for a while." }),
});

export const packsReplySchema = z.array(packInfoSchema).meta({ description: "Sorted by name." });

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

export const pipelinesReplySchema = z.array(pipelineInfoSchema).meta({ description: "Sorted by id." });

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
