/** Routes for packs and their files. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import type { PackInfo } from "../../packs/engine/pack-contract.ts";
import type { ServerContext } from "../../packs/server-context.ts";
import { packInfoReply, packRunReply } from "../../packs/wire.ts";
import type { ServerEnv } from "../caller.ts";
import { packQuerySchema } from "./query-schemas.ts";
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
