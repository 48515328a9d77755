/** Routes for a host's plugin whose memory this server keeps: caller, search, documents, tool records, growth, status. */
import { createRoute, type OpenAPIHono } from "@hono/zod-openapi";
import {
  type CallerReply,
  defined,
  documentOfRequest,
  documentReply,
  expiringReply,
  growthReply,
  HelmdeckError,
  type Memory,
  type OwnStatusReply,
  rfc3339,
  runOfRequest,
  runsReply,
  SEARCH_DESCRIPTION,
  searchOfRequest,
  searchReply,
} from "../../app/index.ts";
import type { ServerContext } from "../../packs/index.ts";
import { hasScope } from "../authentication.ts";
import { type Caller, RECORD_SCOPE, type ServerEnv } from "../caller.ts";
import * as schemas from "./components.ts";
import { runsQuerySchema } from "./query-schemas.ts";
import { failures, json, jsonBody } from "./rest-answers.ts";
import { writerOf } from "./writer.ts";

const tags = ["memory"];

const callerRoute = createRoute({
  method: "get",
  path: "/api/v1/caller",
  tags,
  operationId: "caller",
  summary: "The caller and the scopes of the token.",
  responses: { 200: json("The caller.", schemas.caller), ...failures() },
});

const searchRoute = createRoute({
  method: "post",
  path: "/api/v1/memory/search",
  tags,
  operationId: "searchMemory",
  summary: "Ranked hits with their best matching lines. Read-only.",
  description: SEARCH_DESCRIPTION,
  request: { body: jsonBody(schemas.searchRequest) },
  responses: { 200: json("Hits, best first.", schemas.searchReply), ...failures(413, 415) },
});

const documentRoute = createRoute({
  method: "post",
  path: "/api/v1/memory/document",
  tags,
  operationId: "readDocument",
  summary: "Lines of one document, by the path of a hit.",
  request: { body: jsonBody(schemas.documentRequest) },
  responses: { 200: json("The lines.", schemas.document), ...failures(404, 413, 415) },
});

const runRoute = createRoute({
  method: "post",
  path: "/api/v1/memory/runs",
  tags,
  operationId: "recordRun",
  summary: "Record a tool run of the caller; requires the scope record.",
  request: { body: jsonBody(schemas.runRequest) },
  responses: { 200: json("Recorded.", schemas.recorded), ...failures(413, 415) },
});

const runsRoute = createRoute({
  method: "get",
  path: "/api/v1/memory/runs",
  tags,
  operationId: "listRuns",
  summary: "The caller's runs of packs, pipelines and tools, newest first.",
  request: { query: runsQuerySchema },
  responses: { 200: json("A page of runs.", schemas.runs), ...failures() },
});

const growthRoute = createRoute({
  method: "get",
  path: "/api/v1/memory/growth",
  tags,
  operationId: "memoryGrowth",
  summary: "When the caller's entries were stored, and their size.",
  responses: { 200: json("By day.", schemas.growth), ...failures() },
});

const statusRoute = createRoute({
  method: "get",
  path: "/api/v1/memory/status",
  tags,
  operationId: "memoryStatus",
  summary: "The size of the caller's memory, and how it is searched.",
  responses: { 200: json("The status.", schemas.ownStatus), ...failures() },
});

const revisionRoute = createRoute({
  method: "get",
  path: "/api/v1/memory/revision",
  tags,
  operationId: "memoryRevision",
  summary: "A number that grows with every change.",
  responses: { 200: json("The number.", schemas.revision), ...failures() },
});

export function addHostRoutes(app: OpenAPIHono<ServerEnv>, { memory }: ServerContext): void {
  app.openapi(callerRoute, (c) => c.json(callerReply(c.get("caller")), 200));
  app.openapi(searchRoute, async (c) => {
    const answer = await memory.search(c.get("caller").subject, searchOfRequest(c.req.valid("json")));
    return c.json(searchReply(answer), 200);
  });
  app.openapi(documentRoute, async (c) => {
    const slice = await memory.readDocument(c.get("caller").subject, documentOfRequest(c.req.valid("json")));
    if (slice === undefined) throw new HelmdeckError("not_found", "There is no such document.");
    return c.json(documentReply(slice), 200);
  });
  app.openapi(runRoute, async (c) => {
    const caller = requireRecorder(c.get("caller"));
    const { subject } = caller;
    const request = c.req.valid("json");
    const run = runOfRequest(request);
    const writer = writerOf(caller, request.writer);
    if (run.kind === "tool") await memory.recordToolCall(subject, run.row, writer);
    else await memory.recordPackRun(subject, run.row, writer);
    return c.json({ recorded: true as const }, 200);
  });
  app.openapi(runsRoute, async (c) => {
    const page = await memory.listRuns(c.get("caller").subject, defined(c.req.valid("query")));
    return c.json(runsReply(page), 200);
  });
  app.openapi(growthRoute, async (c) => {
    return c.json(growthReply(await memory.growth(c.get("caller").subject)), 200);
  });
  app.openapi(statusRoute, async (c) => c.json(await ownStatus(memory, c.get("caller")), 200));
  app.openapi(revisionRoute, async (c) => {
    return c.json({ revision: await memory.revision(c.get("caller").subject) }, 200);
  });
}

/** Rows of runs count as written by this server, so not every token may add them. */
function requireRecorder(caller: Caller): Caller {
  if (hasScope(caller, RECORD_SCOPE)) return caller;
  throw new HelmdeckError("forbidden", "Recording tool runs requires a token with the scope record.");
}

function callerReply({ subject, authenticated, scopes, expiresAt }: Caller): CallerReply {
  return {
    ...{ subject, authenticated, scopes: [...scopes] },
    ...(expiresAt !== undefined && { expires_at: rfc3339(expiresAt) }),
  };
}

/** Without the server's paths, which callers need not know. */
async function ownStatus(memory: Memory, caller: Caller): Promise<OwnStatusReply> {
  const { mode, subject, error } = await memory.status(caller.subject);
  if (error !== undefined) throw new HelmdeckError(error.code, error.message);
  const { facts = 0, auditRows = 0, expiring } = subject ?? {};
  return { mode, facts, audit_rows: auditRows, ...(expiring && { expiring: expiringReply(expiring) }) };
}
