/** Pipelines as MCP tools: `pipeline__<id>` starts a pipeline and answers when it has ended. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import type { PackEffects, PackInfo } from "../../packs/engine/pack-contract.ts";
import type { Pipeline, PipelineInput, PipelineRunner } from "../../packs/pipelines/pipeline-contract.ts";
import { pipelineRunReply, pipelineRunReplySchema } from "../../packs/wire/run-replies.ts";
import { listedOutput } from "./listed-schema.ts";
import { annotationsFor, asObjectSchema } from "./pack-tools.ts";
import { asTextAndData, textOf } from "./results.ts";
import { type McpTool, type ToolCall, toolNameOf } from "./tool-registry.ts";

export function pipelineTools(runner: PipelineRunner, packs: readonly PackInfo[]): readonly McpTool[] {
  return runner.list().map((pipeline) => {
    const dottedName = `pipeline.${pipeline.id}`;
    return {
      dottedName,
      definition: definitionOf(toolNameOf(dottedName), pipeline, packs),
      call: (call: ToolCall) => runPipeline(runner, pipeline.id, call),
    };
  });
}

/** A cancelled call cancels the run and waits until it is recorded. */
async function runPipeline(
  runner: PipelineRunner,
  pipeline: string,
  call: ToolCall,
): Promise<CallToolResult> {
  const { caller, input, signal, onProgress } = call;
  const { subject, authenticated } = caller;
  if (call.sessionId !== undefined)
    throw new HelmdeckError("invalid_input", "A pipeline has no session to go on in.");
  const request = { pipeline, inputs: input, caller: subject, authenticated, onProgress };
  const { runId } = await runner.start(request);
  const cancel = () => void runner.cancel(subject, runId).catch(() => {}); // it has already ended
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    return resultOf(pipelineRunReply(await runner.ended(subject, runId)));
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

function resultOf(run: z.infer<typeof pipelineRunReplySchema>): CallToolResult {
  if (run.state === "succeeded") return asTextAndData(run);
  const { code, message } = run.error ?? { code: run.state, message: `The pipeline was ${run.state}.` };
  return { isError: true, content: [{ type: "text", text: `${code}: ${message}` }, textOf(run)] };
}

function definitionOf(name: string, pipeline: Pipeline, packs: readonly PackInfo[]): Tool {
  const steps = pipeline.steps.map(({ pack }) => packs.find((known) => known.name === pack)?.effects);
  return {
    name,
    title: `Pipeline ${pipeline.id}`,
    description: pipeline.description,
    inputSchema: inputSchemaFor(pipeline.inputs),
    outputSchema: OUTPUT_SCHEMA,
    annotations: annotationsFor(effectsOfAll(steps)),
  };
}

const OUTPUT_SCHEMA = asObjectSchema(listedOutput(z.toJSONSchema(pipelineRunReplySchema, { io: "output" })));

function inputSchemaFor(inputs: Readonly<Record<string, PipelineInput>>): Tool["inputSchema"] {
  const named = Object.entries(inputs);
  const properties = named.map(([name, { description, default: fallback }]) => [
    name,
    {
      ...defined({ description, default: fallback }),
    },
  ]);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: named.filter(([, { required }]) => required).map(([name]) => name),
    additionalProperties: false,
  };
}

/** A pipeline has the effects of all its steps; an unknown step may do anything. */
function effectsOfAll(steps: readonly (PackEffects | undefined)[]): PackEffects {
  const every = (holds: (effects: PackEffects) => boolean | undefined) =>
    steps.every((effects) => effects !== undefined && holds(effects) === true);
  const harmless = every(({ readOnly, destructive }) => readOnly === true || destructive === false);
  return {
    readOnly: every(({ readOnly }) => readOnly),
    destructive: !harmless,
    idempotent: every(({ readOnly, idempotent = readOnly }) => idempotent),
    openWorld: !every(({ openWorld }) => openWorld === false),
  };
}
