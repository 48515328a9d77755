/** Packs as MCP tools. */
import type { CallToolResult, Tool, ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { MEMORY_TOOLS } from "../../app/memory.ts";
import { coerced, type JsonSchema } from "../../app/wire/arguments.ts";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { isRecord } from "../../engine/json.ts";
import type { PackEffects, PackEngine, PackInfo, PackRun } from "../../packs/engine/pack-contract.ts";
import type { PipelineInput, PipelineRunner } from "../../packs/pipelines/pipeline-contract.ts";
import { pipelineRunReply, pipelineRunReplySchema } from "../../packs/wire.ts";
import { type Answer, bytesOf, fitting, placeOf } from "./answer-pages.ts";
import { asTextAndData, resultOfRun, textOf } from "./results.ts";
import { listedInput, listedOutput, type McpTool, type ToolCall, toolNameOf } from "./tool-registry.ts";

const NAMES = MEMORY_TOOLS.map((name) => `helmdeck.memory_${name}`);

/**
 * Memory's own tools, in the shortest useful form.
 *
 * Every conversation pays for the tool list. So output schemas are not listed, and an answer without a schema is text only
 * (decision 43): JSON that a model can read.
 *
 * In the order in which clients show them.
 */
export function memoryTools(packs: PackEngine): readonly McpTool[] {
  const tools = packTools(packs, (run) => {
    const { structuredContent, ...result } = resultOfRun(run);
    return structuredContent === undefined ? result : { ...result, content: [textOf(structuredContent)] };
  });
  return NAMES.flatMap((name) => tools.filter(({ dottedName }) => dottedName === name)).map(brief);
}

/** Without examples, and with the hints by which clients ask a person, where they differ from the protocol's defaults. */
function brief(tool: McpTool): McpTool {
  const { outputSchema: _, inputSchema, annotations = {}, ...definition } = tool.definition;
  const { readOnlyHint, destructiveHint, openWorldHint } = annotations;
  const fields = Object.entries(inputSchema.properties ?? {}).map(([name, field]) => {
    const { examples: _, minLength: __, ...facets } = { examples: undefined, minLength: undefined, ...field };
    return [name, facets];
  });
  const briefly: Tool = {
    ...definition,
    inputSchema: { ...inputSchema, properties: Object.fromEntries(fields) },
    annotations: {
      ...(readOnlyHint === true && { readOnlyHint }),
      ...(readOnlyHint !== true && destructiveHint === false && { destructiveHint }),
      ...(openWorldHint === false && { openWorldHint }),
    },
  };
  return { ...tool, definition: briefly };
}

type Present = (run: PackRun) => CallToolResult;

export function packTools(packs: PackEngine, present: Present = resultOfRun): readonly McpTool[] {
  return packs.list().map((pack) => toolFor(pack, packs, present));
}

function toolFor(pack: PackInfo, packs: PackEngine, present: Present): McpTool {
  const definition = definitionOf(pack);
  const { name, pages } = pack;
  return {
    dottedName: name,
    definition,
    call: async ({ caller: { subject, authenticated }, ...call }) => {
      const run = (input: unknown) =>
        packs.run({ ...call, input, pack: name, caller: subject, authenticated });
      const given = coerced(definition.inputSchema, call.input);
      if (pages === undefined || !isRecord(given)) return present(await run(given));
      const { cursor, ...input } = given;
      const place = placeOf(cursor, hasOwnCursor(pack) || !continues(pack));
      const answer = await run({ ...input, ...defined({ cursor: place.own }) });
      if (!isRecord(answer.output)) return present(answer);
      const sizeOf = (output: Answer) => bytesOf(present({ ...answer, output }));
      const output = fitting(answer.output, pages, { place, sizeOf, continues: continues(pack) });
      return present({ ...answer, output });
    },
  };
}

/** Only what changes nothing can be asked for again. */
function continues({ effects }: PackInfo): boolean {
  return effects?.readOnly === true;
}

function hasOwnCursor({ inputSchema }: PackInfo): boolean {
  return isRecord(inputSchema.properties) && "cursor" in inputSchema.properties;
}

function definitionOf(pack: PackInfo): Tool {
  const { name, title, description, outputSchema, effects } = pack;
  return {
    name: toolNameOf(name),
    title,
    description,
    inputSchema: inputSchemaOf(pack),
    ...(isObjectSchema(outputSchema) && { outputSchema: outputSchemaOf(pack) }),
    annotations: annotationsFor(effects),
  };
}

function inputSchemaOf(pack: PackInfo): Tool["inputSchema"] {
  if (!isObjectSchema(pack.inputSchema))
    throw new HelmdeckError(
      "invalid_input",
      `The pack "${pack.name}" cannot be an MCP tool: its input must be an object with named fields.`,
    );
  const schema = asObjectSchema(listedInput(pack.inputSchema));
  if (pack.pages === undefined || !continues(pack) || hasOwnCursor(pack)) return schema;
  return { ...schema, properties: { ...schema.properties, cursor: CURSOR } };
}

/** With the fields that say that an answer, or the text of an item, goes on. */
function outputSchemaOf({ outputSchema, pages }: PackInfo): Tool["inputSchema"] {
  const schema = asObjectSchema(listedOutput(outputSchema));
  if (pages === undefined) return schema;
  const { items: name = "" } = pages;
  const list = Object(Object(schema.properties)[name]);
  const items = { ...list.items, properties: { ...list.items?.properties, part: PART } };
  const shown = pages.items === undefined ? { part: PART } : { [name]: { ...list, items } };
  return { ...schema, properties: { ...schema.properties, ...shown, ...MORE } };
}

const CURSOR = { type: "string", description: "The last next_cursor." };
const MORE = { next_cursor: { type: "string" }, incomplete: { type: "boolean" } };
const COUNT = { type: "integer" };
const PART = { type: "object", properties: { from: COUNT, to: COUNT, of: COUNT } };

/** MCP's hints. An undeclared effect counts as the worst case, as in the protocol's defaults. */
function annotationsFor(effects: PackEffects = {}): ToolAnnotations {
  const { readOnly = false, destructive = !readOnly, idempotent = readOnly, openWorld = true } = effects;
  return {
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: idempotent,
    openWorldHint: openWorld,
  };
}

function isObjectSchema({ type, anyOf, oneOf, allOf }: JsonSchema): boolean {
  if (type !== undefined) return type === "object";
  return [anyOf, oneOf, allOf].some((parts) => Array.isArray(parts) && parts.every(isObjectSchema));
}

/** MCP requires the type "object" at the root, and reads schemas without a dialect as 2020-12, which ours are. */
function asObjectSchema({ $schema: _, ...schema }: JsonSchema): Tool["inputSchema"] {
  return { ...schema, type: "object" };
}

/** Pipelines as MCP tools: `pipeline__<id>` starts a pipeline and answers when it has ended. */
export function pipelineTools(runner: PipelineRunner, packs: readonly PackInfo[]): readonly McpTool[] {
  return runner.list().map((pipeline) => {
    const dottedName = `pipeline.${pipeline.id}`;
    const name = toolNameOf(dottedName);
    const steps = pipeline.steps.map(({ pack }) => packs.find((known) => known.name === pack)?.effects);
    // A pipeline has the effects of all its steps; an unknown step may do anything.
    const every = (holds: (effects: PackEffects) => boolean | undefined) =>
      steps.every((effects) => effects !== undefined && holds(effects) === true);
    const harmless = every(({ readOnly, destructive }) => readOnly === true || destructive === false);
    return {
      dottedName,
      definition: {
        name,
        title: `Pipeline ${pipeline.id}`,
        description: pipeline.description,
        inputSchema: inputSchemaFor(pipeline.inputs),
        outputSchema: OUTPUT_SCHEMA,
        annotations: annotationsFor({
          readOnly: every(({ readOnly }) => readOnly),
          destructive: !harmless,
          idempotent: every(({ readOnly, idempotent = readOnly }) => idempotent),
          openWorld: !every(({ openWorld }) => openWorld === false),
        }),
      },
      call: (call: ToolCall) => runPipeline(runner, pipeline.id, call),
    };
  });
}

/** A cancelled call cancels the run and waits until it is recorded. */
async function runPipeline(runner: PipelineRunner, pipeline: string, call: ToolCall) {
  const { caller, input, signal, onProgress, sessionId } = call;
  const { subject, authenticated } = caller;
  if (sessionId !== undefined)
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

const OUTPUT_SCHEMA = asObjectSchema(listedOutput(z.toJSONSchema(pipelineRunReplySchema, { io: "output" })));

function inputSchemaFor(inputs: Readonly<Record<string, PipelineInput>>): Tool["inputSchema"] {
  const named = Object.entries(inputs);
  const properties = named.map(([name, { description, default: fallback }]) => {
    return [name, defined({ description, default: fallback })];
  });
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: named.filter(([, { required }]) => required).map(([name]) => name),
    additionalProperties: false,
  };
}
