/**
 * The server's request handling as one Hono app: guards, authentication and routes, in the order of processing.
 *
 * Cheap checks come first: address and host, then caller and rate, then the size and form of the body, then the number of
 * requests in flight. The request then waits for its turn, and only then reaches a route.
 */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import { getPath } from "hono/utils/url";
import type { Logger } from "pino";
import { HelmdeckError, invalidField } from "../engine/errors.ts";
import type { ShareLimits } from "../engine/fair-share.ts";
import type { ServerContext } from "../packs/server-context.ts";
import { answerFailures, answerWith, type FailureListener, noteFailure } from "./answer-failures.ts";
import { authenticate, countOpen, refusalOf, type Tokens } from "./authentication.ts";
import type { Caller, ServerEnv } from "./caller.ts";
import type { CallerCounts } from "./caller-counts.ts";
import { guardAddress, guardHost, guardOrigin, type HostRules } from "./guards/addresses.ts";
import { limitBody, parseBody } from "./guards/body.ts";
import { limitInFlight, type RateLimits, staggerRequests } from "./guards/rate.ts";
import type { Metrics } from "./metrics.ts";
import { addMount, failAs, type Mount, pathOf } from "./mount.ts";
import { headEveryAnswer, logToolFailure, observeRequests, watchFailures } from "./observing.ts";
import { addDescriptionRoute, OPENAPI_PATH } from "./openapi.ts";
import { addPages, type PagesSettings } from "./pages/add-pages.ts";
import { addOperationRoutes } from "./rest/operation-routes.ts";
import { addHostRoutes, addMetricsRoute, addOpenRoutes, addTokensRoute } from "./rest/operator-routes.ts";
import { addPackRoutes, addPipelineRoutes } from "./rest/pack-routes.ts";
import { refuseInvalid } from "./rest/rest-answers.ts";

export type ServerApp = OpenAPIHono<ServerEnv>;

export interface AppParts {
  /** Asked for each request. */
  readonly hostRules: () => HostRules;
  readonly serverContext: ServerContext;
  readonly version: string;
  /** Absent: no authentication. */
  readonly tokens?: Tokens;
  readonly limits: RateLimits;
  readonly inFlight: ShareLimits;
  readonly mounts: readonly Mount[];
  /** The address that clients use if a proxy is in front of the server: `https://deck.example`, or with a path. */
  readonly publicOrigin?: string;
  /** Absent: no pages. */
  readonly pages?: PagesSettings;
  readonly metrics: Metrics;
  readonly counts: CallerCounts;
  readonly log: Logger;
  /** The caller's name in request lines, if they have one. */
  readonly callerName: (subject: string) => string | undefined;
  readonly now: () => number;
  readonly isStopping: () => boolean;
  readonly onUnexpected?: (error: unknown) => void;
}

export function makeApp(parts: AppParts): ServerApp {
  const base =
    parts.publicOrigin === undefined ? "" : new URL(parts.publicOrigin).pathname.replace(/\/$/, "");
  const app: ServerApp = new OpenAPIHono<ServerEnv>({
    defaultHook: refuseInvalid,
    getPath: (request) => {
      const path = getPath(request); // a proxy may pass the public path on, or leave it out
      const isBelow = base !== "" && (path === base || path.startsWith(`${base}/`));
      return isBelow ? path.slice(base.length) || "/" : path;
    },
  });
  const failures = watchFailures(parts);
  app.onError(answerFailures(failures));
  const carryOut = [limitInFlight(parts.inFlight), staggerRequests()];
  app.use(observeRequests(parts), parts.counts.countRequests, headEveryAnswer(parts.isStopping));
  app.use(guardHost(parts.hostRules), guardAddress, refuseOtherMethods(app));
  if (parts.pages !== undefined) addPages(app, { ...parts, pages: parts.pages, failures, base }, carryOut);
  app.use(guardOrigin(parts.hostRules));
  // Routes that anybody may call.
  const counted = countOpen(parts);
  for (const path of ["/.well-known/*", "/register"]) app.use(path, counted, answerNoOauth(parts));
  for (const path of ["/healthz", "/readyz", "/version", OPENAPI_PATH]) app.use(path, counted);
  addOpenRoutes(app, parts);
  addDescriptionRoute(app, parts);
  for (const mount of parts.mounts) app.use(pathOf(mount), failAs(mount));
  app.use(authenticate(parts), limitBody, parseBody, ...carryOut);
  addCallersPart(app, parts, failures, base);
  refuseAmbiguous(app, base);
  const noSuchRoute = `There is no such route; ${OPENAPI_PATH} lists all routes.`;
  app.notFound((c) => answerWith(c, new HelmdeckError("not_found", noSuchRoute)));
  return app;
}

/** Routes for callers. */
function addCallersPart(app: ServerApp, parts: AppParts, failures: FailureListener, base: string): void {
  const { serverContext, mounts, metrics, tokens, log, counts } = parts;
  const { memory } = serverContext;
  addOperationRoutes(app, { ...serverContext, memory: { ...memory, callers: counts.callersOver(memory) } });
  addHostRoutes(app, serverContext);
  addPackRoutes(app, serverContext);
  addPipelineRoutes(app, serverContext, base);
  addTokensRoute(app, tokens);
  addMetricsRoute(app, metrics, { isOpen: tokens === undefined });
  const onFailure = (thrown: unknown, { subject }: Caller) => {
    const failure = noteFailure(failures, thrown, undefined);
    logToolFailure(log, failure);
    counts.count(subject, failure.code, 0);
  };
  for (const mount of mounts) addMount(app, mount, onFailure, () => tokens?.secrets ?? []);
}

/** Below a path that is also a route's, nobody could tell whether a proxy has left it out. */
function refuseAmbiguous({ routes }: ServerApp, base: string): void {
  const [, first] = base.split("/");
  if (first === undefined || !routes.some(({ path }) => path.split("/")[1] === first)) return;
  throw invalidField(
    "public-origin",
    `must not have a path that begins with /${first}, as routes of the server do`,
  );
}

/** Answers 405 with Allow for a wrong method, and OPTIONS with the list of methods. */
function refuseOtherMethods(app: ServerApp): MiddlewareHandler<ServerEnv> {
  return methodNotAllowed({
    app,
    onMethodNotAllowed: (c, methods) => {
      const allow = [...methods, "OPTIONS"].join(", ");
      if (c.req.method === "OPTIONS") return c.body(null, 204, { Allow: allow });
      c.header("Allow", allow);
      return answerWith(c, new HelmdeckError("method_not_allowed", `This route takes ${allow}.`));
    },
  });
}

/** Clients look there after a 401, and show a person what the answer says. */
function answerNoOauth({ tokens }: AppParts): MiddlewareHandler<ServerEnv> {
  return async (c) => {
    const refused = await refusalOf(tokens, c.req.header("authorization"));
    const why = refused?.message ?? "It needs none.";
    return answerWith(c, new HelmdeckError("not_found", `This server has no OAuth. ${why}`));
  };
}
