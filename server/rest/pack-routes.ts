/** Routes for packs and their files, and for pipelines: list, start, follow and cancel. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import type { PackInfo } from "../../packs/engine/pack-contract.ts";
import type { PipelineRun } from "../../packs/pipelines/pipeline-contract.ts";
import type { ServerContext } from "../../packs/server-context.ts";
import { packInfoReply, packRunReply, pipelineRunReply, pipelinesReply } from "../../packs/wire.ts";
import type { ServerEnv } from "../caller.ts";
import { packQuerySchema, pipelineQuerySchema } from "./query-schemas.ts";
import * as schemas from "./rest-answers.ts";
import { failures, json, optionalBody } from "./rest-answers.ts";

const tags = ["packs"];

const listRoute = createRoute({
  method: "get",
  path: "/api/v1/packs",
  tags,
  operationId: "listPacks",
  summary: "List the packs with their schemas.",
  responses: { 200: json("Packs.", schemas.packs), ...failures() },
});

const packParams = z.object({ name: z.string().openapi({ example: "github.list_issues" }) });

const getRoute = createRoute({
  method: "get",
  path: "/api/v1/packs/{name}",
  tags,
  operationId: "getPack",
  summary: "One pack, with its schemas.",
  request: { params: packParams },
  responses: { 200: json("The pack.", schemas.pack), ...failures(404) },
});

const run = {
  method: "post",
  tags,
  description:
    "Answers when the run has ended. Disconnecting cancels the run. The audit has a row for the run in either case.",
  responses: { 200: json("The run.", schemas.packRun), ...failures(404, 413, 415, 422, 502, 504) },
} as const;

const input = {
  query: packQuerySchema,
  body: optionalBody(
    z.unknown().openapi({
      description: "The pack's input, according to its input_schema; an empty body counts as {}.",
    }),
  ),
};

const runRoute = createRoute({
  ...run,
  path: "/api/v1/packs/{name}",
  operationId: "runPack",
  summary: "Run a pack.",
  request: { params: packParams, ...input },
});

const runVersionRoute = createRoute({
  ...run,
  path: "/api/v1/packs/{name}/{version}",
  operationId: "runPackVersion",
  summary: "Run a pack, if it has this version.",
  request: {
    params: packParams.extend({
      version: z
        .string()
        .openapi({ description: "A version such as 1.2.0, v1 for any 1.x.y, or latest.", example: "latest" }),
    }),
    ...input,
  },
});

const artifactRoute = createRoute({
  method: "get",
  path: "/api/v1/artifacts/{id}",
  tags,
  operationId: "getArtifact",
  summary: "Get a file from one of the caller's runs.",
  request: { params: z.object({ id: z.string() }) },
  responses: {
    200: {
      description: "The file, as an attachment.",
      content: { "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) } },
    },
    ...failures(404),
  },
});

export function addPackRoutes(app: OpenAPIHono<ServerEnv>, { packs, artifacts }: ServerContext): void {
  const runPack = async (c: Context<ServerEnv>, name: string, sessionId: string | undefined) => {
    const { subject: caller, authenticated } = c.get("caller");
    const signal = c.req.raw.signal;
    const asked = { pack: name, input: c.get("body"), caller, authenticated, signal };
    return packRunReply(await packs.run({ ...asked, ...defined({ sessionId }) }));
  };
  app.openapi(listRoute, (c) => c.json(packs.list().map(packInfoReply), 200));
  app.openapi(getRoute, (c) => c.json(packInfoReply(requirePack(packs, c.req.valid("param").name)), 200));
  app.openapi(runRoute, async (c) =>
    c.json(await runPack(c, c.req.valid("param").name, c.req.valid("query").session_id), 200),
  );
  app.openapi(runVersionRoute, async (c) => {
    const { name, version: asked } = c.req.valid("param");
    const { version } = requirePack(packs, name);
    const [major] = version.split("."); // helmdeck's own versions are v1, v2 and so on
    if (!["latest", version, `v${version}`, `v${major}`].includes(asked))
      throw new HelmdeckError("not_found", `${name} has only version ${version}; latest names it too.`);
    return c.json(await runPack(c, name, c.req.valid("query").session_id), 200);
  });
  app.openapi(artifactRoute, async (c) => {
    const found = await artifacts.get(c.get("caller").subject, c.req.valid("param").id);
    if (found === undefined) throw new HelmdeckError("not_found", "There is no such file.");
    const { ref, content } = found;
    return c.body(Uint8Array.from(content), 200, {
      // The media type comes from the pack, so a browser is always told to download the file.
      "Content-Type": "application/octet-stream",
      "Content-Disposition": `attachment; filename*=UTF-8''${encodeURIComponent(ref.name)}`,
      ETag: `"${ref.sha256}"`,
    });
  });
}

function requirePack(packs: ServerContext["packs"], name: string): PackInfo {
  const pack = packs.list().find((known) => known.name === name);
  if (pack !== undefined) return pack;
  throw new HelmdeckError(
    "not_found",
    "There is no pack with this name. Names must match exactly: see the list of packs.",
  );
}

const pipelineTags = ["pipelines"];
const runParams = z.object({ run_id: z.string() });

const listPipelinesRoute = createRoute({
  method: "get",
  path: "/api/v1/pipelines",
  tags: pipelineTags,
  operationId: "listPipelines",
  summary: "List the pipelines.",
  responses: { 200: json("Pipelines.", schemas.pipelines), ...failures() },
});

const startRoute = createRoute({
  method: "post",
  path: "/api/v1/pipelines/{id}/run",
  tags: pipelineTags,
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

const getPipelineRunRoute = createRoute({
  method: "get",
  path: "/api/v1/pipelines/runs/{run_id}",
  tags: pipelineTags,
  operationId: "getPipelineRun",
  summary: "Get one of the caller's runs.",
  request: { params: runParams },
  responses: { 200: json("The run.", schemas.pipelineRun), ...failures(404) },
});

const cancelRoute = createRoute({
  method: "delete",
  path: "/api/v1/pipelines/runs/{run_id}",
  tags: pipelineTags,
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
  app.openapi(listPipelinesRoute, (c) => c.json(pipelinesReply(pipelines.list()), 200));
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
  app.openapi(getPipelineRunRoute, (c) => {
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
