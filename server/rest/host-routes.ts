/** Routes for a host's plugin whose memory this server keeps: who calls, its memory's status, records of tool calls. */
import { createRoute, type OpenAPIHono } from "@hono/zod-openapi";
import type { Memory } from "../../app/memory.ts";
import { toWire } from "../../app/wire/codec.ts";
import { type CallerReply, type OwnStatusReply, runOfRequest } from "../../app/wire/schemas.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { rfc3339 } from "../../engine/rfc3339.ts";
import type { ServerContext } from "../../packs/server-context.ts";
import { hasScope } from "../authentication.ts";
import { type Caller, RECORD_SCOPE, type ServerEnv } from "../caller.ts";
import { writerOf } from "./operation-routes.ts";
import * as schemas from "./rest-answers.ts";
import { failures, json, jsonBody } from "./rest-answers.ts";

const tags = ["memory"];

const callerRoute = createRoute({
  method: "get",
  path: "/api/v1/caller",
  tags,
  operationId: "caller",
  summary: "The caller and the scopes of the token.",
  responses: { 200: json("The caller.", schemas.caller), ...failures() },
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

const statusRoute = createRoute({
  method: "get",
  path: "/api/v1/memory/status",
  tags,
  operationId: "memoryStatus",
  summary: "The size of the caller's memory, and how it is searched.",
  responses: { 200: json("The status.", schemas.ownStatus), ...failures() },
});

export function addHostRoutes(app: OpenAPIHono<ServerEnv>, { memory }: ServerContext): void {
  app.openapi(callerRoute, (c) => c.json(callerReply(c.get("caller")), 200));
  app.openapi(runRoute, async (c) => {
    const caller = c.get("caller");
    // Rows of runs count as written by this server, so not every token may add them.
    if (!hasScope(caller, RECORD_SCOPE))
      throw new HelmdeckError("forbidden", "Recording tool runs requires a token with the scope record.");
    const { subject } = caller;
    const request = c.req.valid("json");
    const run = runOfRequest(request);
    const writer = writerOf(caller, request.writer);
    if (run.kind === "tool") await memory.recordToolCall(subject, run.row, writer);
    else await memory.recordPackRun(subject, run.row, writer);
    return c.json({ recorded: true as const }, 200);
  });
  app.openapi(statusRoute, async (c) => c.json(await ownStatus(memory, c.get("caller")), 200));
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
  return { mode, facts, audit_rows: auditRows, ...(expiring && { expiring: toWire(expiring) }) };
}
