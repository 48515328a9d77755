/** The routes of packs and of the files that they make. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { defined, HelmdeckError } from "../../app/index.ts";
import { packRunReply, packsReply, type ServerContext } from "../../packs/index.ts";
import type { ServerEnv } from "../caller.ts";
import * as schemas from "./components.ts";
import { packQuerySchema } from "./query-schemas.ts";
import { failures, json, jsonBody } from "./rest-answers.ts";

const tags = ["packs"];

const listRoute = createRoute({
  method: "get",
  path: "/api/v1/packs",
  tags,
  operationId: "listPacks",
  summary: "Which packs there are, with their schemas.",
  responses: { 200: json("Packs.", schemas.packs), ...failures() },
});

const runRoute = createRoute({
  method: "post",
  path: "/api/v1/packs/{name}",
  tags,
  operationId: "runPack",
  summary: "Run a pack.",
  description:
    "Answers when the run has ended; a caller that goes away cancels it. Either way the run is in the audit.",
  request: {
    params: z.object({ name: z.string().openapi({ example: "github.list_issues" }) }),
    query: packQuerySchema,
    body: jsonBody(z.unknown().openapi({ description: "The pack's input, as its input_schema says." })),
  },
  responses: { 200: json("The run.", schemas.packRun), ...failures(404, 413, 415, 422, 502, 504) },
});

const artifactRoute = createRoute({
  method: "get",
  path: "/api/v1/artifacts/{id}",
  tags,
  operationId: "getArtifact",
  summary: "A file that a run of the caller's made.",
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
  app.openapi(listRoute, (c) => c.json(packsReply(packs.list()), 200));
  app.openapi(runRoute, async (c) => {
    const { subject, authenticated } = c.get("caller");
    const sessionId = c.req.valid("query").session_id;
    const run = await packs.run({
      pack: c.req.valid("param").name,
      input: c.get("body"),
      caller: subject,
      authenticated,
      ...defined({ sessionId }),
      signal: c.req.raw.signal,
    });
    return c.json(packRunReply(run), 200);
  });
  app.openapi(artifactRoute, async (c) => {
    const found = await artifacts.get(c.get("caller").subject, c.req.valid("param").id);
    if (found === undefined) throw new HelmdeckError("not_found", "There is no such file.");
    const { ref, content } = found;
    return c.body(Uint8Array.from(content), 200, {
      // What a pack calls its media type is for programs; a browser is never told to show it.
      "Content-Type": "application/octet-stream",
      "Content-Disposition": `attachment; filename*=UTF-8''${encodeURIComponent(ref.name)}`,
      ETag: `"${ref.sha256}"`,
    });
  });
}
