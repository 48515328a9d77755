/** Routes for pipelines: list, start, follow and cancel. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { HelmdeckError } from "../../engine/errors.ts";
import type { PipelineRun } from "../../packs/pipelines/pipeline-contract.ts";
import type { ServerContext } from "../../packs/server-context.ts";
import { pipelineRunReply, pipelinesReply } from "../../packs/wire.ts";
import type { ServerEnv } from "../caller.ts";
import { pipelineQuerySchema } from "./query-schemas.ts";
import * as schemas from "./rest-answers.ts";
import { failures, json, optionalBody } from "./rest-answers.ts";

const tags = ["pipelines"];
const runParams = z.object({ run_id: z.string() });

const listRoute = createRoute({
  method: "get",
  path: "/api/v1/pipelines",
  tags,
  operationId: "listPipelines",
  summary: "List the pipelines.",
  responses: { 200: json("Pipelines.", schemas.pipelines), ...failures() },
});

const startRoute = createRoute({
  method: "post",
  path: "/api/v1/pipelines/{id}/run",
  tags,
  operationId: "runPipeline",
  summary: "Run a pipeline.",
  description:
    "Answers when the run has ended. Disconnecting cancels the run. With Prefer: respond-async or ?wait=false it" +
    " answers 202 at once and the run continues; Location has the address to follow it.",
  request: {
    params: z.object({ id: z.string() }),
    query: pipelineQuerySchema,
    body: optionalBody(
      z.record(z.string(), z.unknown()).openapi({
        description: 'The pipeline\'s inputs, or {"inputs": {…}} with them; an empty body counts as {}.',
      }),
    ),
  },
  responses: {
    200: json("The ended run; see state for its outcome.", schemas.pipelineRun),
    202: json("The run has begun.", schemas.pipelineRun),
    ...failures(404, 413, 415),
  },
});

const getRoute = createRoute({
  method: "get",
  path: "/api/v1/pipelines/runs/{run_id}",
  tags,
  operationId: "getPipelineRun",
  summary: "Get one of the caller's runs.",
  request: { params: runParams },
  responses: { 200: json("The run.", schemas.pipelineRun), ...failures(404) },
});

const cancelRoute = createRoute({
  method: "delete",
  path: "/api/v1/pipelines/runs/{run_id}",
  tags,
  operationId: "cancelPipelineRun",
  summary: "Cancel one of the caller's runs; answers when it has ended.",
  request: { params: runParams },
  responses: { 200: json("The ended run.", schemas.pipelineRun), ...failures(404) },
});

/** `base`: the path before the routes' own, as clients see it. */
export function addPipelineRoutes(
  app: OpenAPIHono<ServerEnv>,
  { pipelines }: ServerContext,
  base: string,
): void {
  app.openapi(listRoute, (c) => c.json(pipelinesReply(pipelines.list()), 200));
  app.openapi(startRoute, async (c) => {
    const { subject, authenticated } = c.get("caller");
    const { id } = c.req.valid("param");
    const pipeline = pipelines.list().find((known) => known.id === id);
    const body = c.req.valid("json");
    // helmdeck's clients wrap the inputs.
    const isWrapped = Object.keys(body).join() === "inputs" && pipeline?.inputs.inputs === undefined;
    const inputs = isWrapped ? body.inputs : body;
    const run = await pipelines.start({ pipeline: id, inputs, caller: subject, authenticated });
    const preferred = c.req.header("prefer")?.split(",") ?? []; // RFC 7240
    const isAsync = preferred.some((one) => one.trim().toLowerCase() === "respond-async");
    if (c.req.valid("query").wait === false || isAsync) {
      c.header("Location", `${base}/api/v1/pipelines/runs/${encodeURIComponent(run.runId)}`);
      return c.json(pipelineRunReply(run), 202);
    }
    return c.json(pipelineRunReply(await endedOrLeft(pipelines, subject, run, c.req.raw.signal)), 200);
  });
  app.openapi(getRoute, (c) => {
    const run = pipelines.get(c.get("caller").subject, c.req.valid("param").run_id);
    if (run === undefined) throw new HelmdeckError("not_found", "There is no such run.");
    return c.json(pipelineRunReply(run), 200);
  });
  app.openapi(cancelRoute, async (c) => {
    const run = await pipelines.cancel(c.get("caller").subject, c.req.valid("param").run_id);
    return c.json(pipelineRunReply(run), 200);
  });
}

/** Cancels the run if a waiting caller disconnects. */
async function endedOrLeft(
  pipelines: ServerContext["pipelines"],
  subject: string,
  { runId }: PipelineRun,
  signal: AbortSignal,
): Promise<PipelineRun> {
  const cancel = () => void pipelines.cancel(subject, runId).catch(() => {}); // It may have ended meanwhile.
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await pipelines.ended(subject, runId);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
