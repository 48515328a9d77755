/**
 * Routes for operators (liveness, readiness, version and metrics), and for a host's plugin whose memory this server keeps: who
 * calls, its memory's status, records of tool calls.
 */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Memory } from "../../app/memory.ts";
import { toWire } from "../../app/wire/codec.ts";
import { type CallerReply, type OwnStatusReply, runOfRequest } from "../../app/wire/schemas.ts";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { rfc3339 } from "../../engine/rfc3339.ts";
import type { ServerContext } from "../../packs/server-context.ts";
import { RETRY_AFTER_SECONDS } from "../answer-failures.ts";
import { hasScope, type TokenInUse, type Tokens } from "../authentication.ts";
import { ADMIN_SCOPE, type Caller, METRICS_SCOPE, RECORD_SCOPE, type ServerEnv } from "../caller.ts";
import type { Metrics } from "../metrics.ts";
import { readinessOf } from "../readiness.ts";
import { writerOf } from "./operation-routes.ts";
import * as schemas from "./rest-answers.ts";
import { failures, json, jsonBody } from "./rest-answers.ts";

const tags = ["operations"];

const healthRoute = createRoute({
  method: "get",
  path: "/healthz",
  tags,
  operationId: "health",
  summary: "Liveness.",
  security: [],
  responses: { 200: json("The process is up.", z.object({ status: z.literal("ok") })) },
});

const readyRoute = createRoute({
  method: "get",
  path: "/readyz",
  tags,
  operationId: "readiness",
  summary: "Readiness.",
  security: [],
  responses: {
    200: json("Memory works.", schemas.readiness),
    503: json("Memory does not work, or the server is stopping.", schemas.readiness),
  },
});

const versionRoute = createRoute({
  method: "get",
  path: "/version",
  tags,
  operationId: "version",
  summary: "The server's version.",
  security: [],
  responses: { 200: json("The version.", schemas.version) },
});

const metricsRoute = createRoute({
  method: "get",
  path: "/metrics",
  tags,
  operationId: "metrics",
  summary: "Metrics for Prometheus; with authentication, requires the scope metrics or admin.",
  responses: {
    200: {
      description: "Prometheus's text format.",
      content: { "text/plain": { schema: z.string() } },
    },
    ...failures(),
  },
});

const tokensRoute = createRoute({
  method: "get",
  path: "/api/v1/tokens",
  tags,
  operationId: "tokens",
  summary: "The tokens that requests came with since the server started; requires the scope admin.",
  responses: {
    200: json("At most 4,096 accepted tokens, without the tokens.", schemas.tokens),
    ...failures(),
  },
});

export function addTokensRoute(app: OpenAPIHono<ServerEnv>, tokens: Tokens | undefined): void {
  app.openapi(tokensRoute, async (c) => {
    if (!hasScope(c.get("caller"), ADMIN_SCOPE)) {
      throw new HelmdeckError("forbidden", "The list of tokens requires a token with the scope admin.");
    }
    return c.json({ tokens: ((await tokens?.inUse()) ?? []).map(tokenReply) }, 200);
  });
}

function tokenReply({ caller, issued, secret, lastUsedAt }: TokenInUse) {
  const { subject, scopes, expiresAt } = caller;
  return {
    ...{ subject, scopes: [...scopes], secret, last_used_at: rfc3339(lastUsedAt) },
    expires_at: rfc3339(expiresAt),
    ...(issued !== undefined && { issued_at: rfc3339(issued) }),
  };
}

export function addMetricsRoute(
  app: OpenAPIHono<ServerEnv>,
  metrics: Pick<Metrics, "text" | "contentType">,
  { isOpen }: { readonly isOpen: boolean },
): void {
  app.openapi(metricsRoute, async (c) => {
    if (!isOpen && !hasScope(c.get("caller"), METRICS_SCOPE, ADMIN_SCOPE)) {
      throw new HelmdeckError("forbidden", "Metrics require a token with the scope metrics or admin.");
    }
    return c.text(await metrics.text(), 200, { "Content-Type": metrics.contentType });
  });
}

interface OpenParts {
  readonly serverContext: ServerContext;
  readonly version: string;
  readonly isStopping: () => boolean;
}

const STOPPING = "The server is stopping: send requests to another one.";

export function addOpenRoutes(
  app: OpenAPIHono<ServerEnv>,
  { serverContext, version, isStopping }: OpenParts,
): void {
  app.openapi(healthRoute, (c) => c.json({ status: "ok" as const }, 200));
  app.openapi(versionRoute, (c) => c.json({ version }, 200));
  app.openapi(readyRoute, async (c) => {
    const now = await readinessOf(serverContext);
    const readiness = isStopping() ? { ...now, status: "unavailable" as const, message: STOPPING } : now;
    if (readiness.status === "ready") return c.json(readiness, 200);
    return c.json(readiness, 503, { "Retry-After": RETRY_AFTER_SECONDS });
  });
}

const memoryTags = ["memory"];

const callerRoute = createRoute({
  method: "get",
  path: "/api/v1/caller",
  tags: memoryTags,
  operationId: "caller",
  summary: "The caller and the scopes of the token.",
  responses: { 200: json("The caller.", schemas.caller), ...failures() },
});

const runRoute = createRoute({
  method: "post",
  path: "/api/v1/memory/runs",
  tags: memoryTags,
  operationId: "recordRun",
  summary: "Record a tool run of the caller; requires the scope record.",
  request: { body: jsonBody(schemas.runRequest) },
  responses: { 200: json("Recorded.", schemas.recorded), ...failures(413, 415) },
});

const statusRoute = createRoute({
  method: "get",
  path: "/api/v1/memory/status",
  tags: memoryTags,
  operationId: "memoryStatus",
  summary: "The size of the caller's memory, and how it is searched.",
  responses: { 200: json("The status.", schemas.ownStatus), ...failures() },
});

export function addHostRoutes(app: OpenAPIHono<ServerEnv>, { memory }: ServerContext): void {
  app.openapi(callerRoute, (c) => {
    const { subject, authenticated, scopes, expiresAt } = c.get("caller");
    const reply: CallerReply = { subject, authenticated, scopes: [...scopes] };
    return c.json({ ...reply, ...(expiresAt !== undefined && { expires_at: rfc3339(expiresAt) }) }, 200);
  });
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

/** Without the server's paths, which callers need not know. */
async function ownStatus(memory: Memory, caller: Caller): Promise<OwnStatusReply> {
  const { mode, subject, error } = await memory.status(caller.subject);
  if (error !== undefined) throw new HelmdeckError(error.code, error.message);
  const { facts = 0, auditRows = 0, expiring, ended } = subject ?? {};
  return toWire({ mode, facts, auditRows, ...defined({ expiring, ended }) });
}
