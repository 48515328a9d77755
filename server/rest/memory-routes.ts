/** Memory routes: store, forget, facts, history, undo, renew, corpus, my-memory, defaults, callers. For a host's plugin: host-routes.ts. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import {
  callersReply,
  corpusQueryOfRequest,
  corpusReply,
  FORGET_DESCRIPTION,
  factOfRequest,
  factReply,
  factsQueryOfRequest,
  factsReply,
  forgetOfRequest,
  forgetReply,
  HelmdeckError,
  HISTORY_DESCRIPTION,
  historyReply,
  myMemoryReply,
  noFact,
  noHistory,
  RENEW_DESCRIPTION,
  renewOfRequest,
  STORE_DESCRIPTION,
  storeReply,
  UNDO_DESCRIPTION,
  undoReply,
} from "../../app/index.ts";
import type { ServerContext } from "../../packs/index.ts";
import { hasScope } from "../authentication.ts";
import { ADMIN_SCOPE, type Caller, type ServerEnv } from "../caller.ts";
import * as schemas from "./components.ts";
import { corpusQuerySchema, defaultsQuerySchema, factsQuerySchema } from "./query-schemas.ts";
import { failures, json, jsonBody } from "./rest-answers.ts";
import { writerOf } from "./writer.ts";

const tags = ["memory"];

const storeRoute = createRoute({
  method: "post",
  path: "/api/v1/memory/store",
  tags,
  operationId: "storeFact",
  summary: "Store a fact.",
  description: STORE_DESCRIPTION,
  request: { body: jsonBody(schemas.storeRequest) },
  responses: { 200: json("Stored.", schemas.storeReply), ...failures(413, 415) },
});

const forgetRoute = createRoute({
  method: "post",
  path: "/api/v1/memory/forget",
  tags,
  operationId: "forget",
  summary: "Forget all entries in a scope.",
  description: FORGET_DESCRIPTION,
  request: { body: jsonBody(schemas.forgetRequest) },
  responses: {
    200: json("The number of entries, forgotten or counted.", schemas.forgetReply),
    ...failures(413, 415),
  },
});

const factsRoute = createRoute({
  method: "get",
  path: "/api/v1/memory/facts",
  tags,
  operationId: "listFacts",
  summary: "List facts, newest first.",
  request: { query: factsQuerySchema },
  responses: { 200: json("A page of facts.", schemas.facts), ...failures() },
});

const keyParams = z.object({
  key: z.string().openapi({
    description:
      "Percent-encoded, slashes as %2F. If no fact has this key, it is read as a path, docid or citation.",
    example: "deploy/preference",
  }),
});

const factRoute = createRoute({
  method: "get",
  path: "/api/v1/memory/facts/{key}",
  tags,
  operationId: "getFact",
  summary: "Get one fact by its exact key.",
  request: { params: keyParams },
  responses: { 200: json("The fact.", schemas.fact), ...failures(404) },
});

const historyRoute = createRoute({
  method: "get",
  path: "/api/v1/memory/facts/{key}/history",
  tags,
  operationId: "factHistory",
  summary: "The former values of a fact.",
  description: HISTORY_DESCRIPTION,
  request: { params: keyParams },
  responses: { 200: json("Former values, newest first.", schemas.history), ...failures(404) },
});

const undoRoute = createRoute({
  method: "post",
  path: "/api/v1/memory/undo",
  tags,
  operationId: "undoFact",
  summary: "Undo the last store of a fact.",
  description: UNDO_DESCRIPTION,
  request: { body: jsonBody(schemas.undoRequest) },
  responses: { 200: json("The restored fact.", schemas.undoReply), ...failures(404, 413, 415) },
});

const renewRoute = createRoute({
  method: "post",
  path: "/api/v1/memory/renew",
  tags,
  operationId: "renewFact",
  summary: "Renew a fact.",
  description: RENEW_DESCRIPTION,
  request: { body: jsonBody(schemas.renewRequest) },
  responses: { 200: json("The fact with its new expiry.", schemas.fact), ...failures(404, 413, 415) },
});

const corpusRoute = createRoute({
  method: "get",
  path: "/api/v1/memory/corpus",
  tags,
  operationId: "readCorpus",
  summary: "Search memory, or page through all of it.",
  request: { query: corpusQuerySchema },
  responses: { 200: json("Chunks.", schemas.corpus), ...failures() },
});

const myMemoryRoute = createRoute({
  method: "get",
  path: "/api/v1/memory",
  tags,
  operationId: "myMemory",
  summary: "The caller's categories, counts and recent keys, without values.",
  responses: { 200: json("Categories with counts and recent keys.", schemas.myMemory), ...failures() },
});

const defaultsRoute = createRoute({
  method: "get",
  path: "/api/v1/memory/defaults",
  tags,
  operationId: "myDefaults",
  summary: "The caller's usual inputs, learnt from past runs.",
  request: { query: defaultsQuerySchema },
  responses: { 200: json("Defaults learnt from runs.", schemas.defaults), ...failures() },
});

const callersRoute = createRoute({
  method: "get",
  path: "/api/v1/memory/callers",
  tags,
  operationId: "listCallers",
  summary: "Callers with entries: only the caller itself, or everybody with the scope admin.",
  responses: { 200: json("Callers with counts.", schemas.callers), ...failures() },
});

export function addMemoryRoutes(app: OpenAPIHono<ServerEnv>, { memory }: ServerContext): void {
  app.openapi(storeRoute, async (c) => {
    const caller = c.get("caller");
    const { writer, ...fact } = c.req.valid("json");
    const stored = await memory.storeFact(caller.subject, factOfRequest(fact), writerOf(caller, writer));
    return c.json(storeReply(stored), 200);
  });
  app.openapi(forgetRoute, async (c) => {
    const forgotten = await memory.forget(c.get("caller").subject, forgetOfRequest(c.req.valid("json")));
    return c.json(forgetReply(forgotten), 200);
  });
  app.openapi(factsRoute, async (c) => {
    const page = await memory.listFacts(c.get("caller").subject, factsQueryOfRequest(c.req.valid("query")));
    return c.json(factsReply(page), 200);
  });
  app.openapi(factRoute, async (c) => {
    const fact = await memory.getFact(c.get("caller").subject, c.req.valid("param").key);
    if (fact === undefined) throw noFact();
    return c.json(factReply(fact), 200);
  });
  app.openapi(historyRoute, async (c) => {
    const { subject } = c.get("caller");
    const history = await memory.factHistory(subject, c.req.valid("param").key);
    if (history === undefined) throw noHistory(subject);
    return c.json(historyReply(history), 200);
  });
  app.openapi(undoRoute, async (c) => {
    const undone = await memory.undoFact(c.get("caller").subject, c.req.valid("json").key);
    return c.json(undoReply(undone), 200);
  });
  app.openapi(renewRoute, async (c) => {
    const fact = await memory.renewFact(c.get("caller").subject, renewOfRequest(c.req.valid("json")));
    return c.json(factReply(fact), 200);
  });
  app.openapi(corpusRoute, async (c) => {
    const query = corpusQueryOfRequest(c.req.valid("query"));
    return c.json(corpusReply(await memory.corpusPage(c.get("caller").subject, query)), 200);
  });
  app.openapi(myMemoryRoute, async (c) => {
    return c.json(myMemoryReply(await memory.myMemory(c.get("caller").subject)), 200);
  });
  app.openapi(defaultsRoute, async (c) => {
    const subject = requireOwnOrAdmin(c.get("caller"), c.req.valid("query").caller);
    return c.json(schemas.defaults.parse(await memory.defaults(subject)), 200);
  });
  app.openapi(callersRoute, async (c) => {
    return c.json(callersReply(await visibleCallers(memory, c.get("caller"))), 200);
  });
}

/** An empty name means the caller itself. */
function requireOwnOrAdmin(caller: Caller, named = ""): string {
  const wanted = named.trim() === "" ? caller.subject : named;
  if (wanted === caller.subject || hasScope(caller, ADMIN_SCOPE)) return wanted;
  throw new HelmdeckError("forbidden", "Another caller's defaults require a token with the scope admin.");
}

async function visibleCallers(memory: ServerContext["memory"], caller: Caller) {
  const everybody = await memory.callers();
  if (hasScope(caller, ADMIN_SCOPE)) return everybody;
  return everybody.filter(({ subject }) => subject === caller.subject);
}
