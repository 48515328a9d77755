/** Logs each request's id, route pattern, status and duration; never an address, a header or a body. */
import { randomUUID } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { Logger } from "pino";
import { asHelmdeckError, type HelmdeckError } from "../engine/errors.ts";
import type { FailureListener } from "./answer-failures.ts";
import type { ServerEnv } from "./caller.ts";
import type { Metrics } from "./metrics.ts";
import { statusOf } from "./status.ts";

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Uses our own request id, because a client's id could be anything. */
export function observeRequests(metrics: Metrics, log: Logger): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const started = performance.now();
    const requestId = randomUUID();
    c.set("requestId", requestId);
    presetHeader(c, "X-Request-Id", requestId);
    await next();
    const milliseconds = performance.now() - started;
    const method = METHODS.has(c.req.method) ? c.req.method : "other";
    const route = routeOf(c);
    const { status } = c.res;
    metrics.answered({ method, route, status, seconds: milliseconds / 1_000 });
    log.info({ requestId, method, route, status, ms: Math.round(milliseconds * 10) / 10 }, "request");
  };
}

/** The route pattern, such as `/api/v1/packs/:name`. Middleware matches every method. */
function routeOf(c: Context<ServerEnv>): string {
  return matchedRoutes(c).findLast(({ method }) => method !== "ALL")?.path ?? "unmatched";
}

export interface FailureWatch {
  readonly metrics: Metrics;
  readonly log: Logger;
  /** For tests that must fail on any unexpected error, whatever its status. */
  readonly onUnexpected?: (error: unknown) => void;
}

export function watchFailures({ metrics, log, onUnexpected }: FailureWatch): FailureListener {
  return {
    failed: (error, requestId) => {
      metrics.failed(error.code);
      logFailure(log, error, requestId);
    },
    unexpected: (error, requestId) => {
      metrics.unexpected(kindOf(error));
      // The error's own text could contain anything; this message has only its class and location.
      const { message }: HelmdeckError = asHelmdeckError(error);
      log.error({ requestId, kind: kindOf(error), problem: message }, "unexpected error");
      onUnexpected?.(error);
    },
  };
}

/** Our failures are warnings; those of the caller, and defects, which have a line of their own, are not. */
function logFailure(log: Logger, { code, message }: HelmdeckError, requestId?: string): void {
  if (statusOf(code) < 500 || code === "internal") log.debug({ requestId, code }, "refused");
  else log.warn({ requestId, code, problem: message }, "failed");
}

function kindOf(error: unknown): string {
  return error instanceof Error ? error.constructor.name : typeof error;
}

/** The server speaks plain HTTP; a TLS proxy in front of it decides on Strict-Transport-Security. */
const OF_EVERY_ANSWER = Object.entries({
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Origin-Agent-Cluster": "?1",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-DNS-Prefetch-Control": "off",
  "X-Download-Options": "noopen",
  "X-Frame-Options": "SAMEORIGIN",
  "X-Permitted-Cross-Domain-Policies": "none",
  "X-XSS-Protection": "0",
});

/**
 * Headers for every answer: no scripts, no frames, no type sniffing, no caching. A stopping server also asks the client to
 * close the connection.
 *
 * An answer's own header of the same name wins: a page sets its own content security policy. On a socket, the headers go
 * directly to Node's response, because changing a finished answer makes Hono rebuild it, which costs more than a store read.
 */
export function headEveryAnswer(isStopping: () => boolean): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const outgoing = c.env?.outgoing;
    if (outgoing !== undefined) for (const [name, value] of OF_EVERY_ANSWER) outgoing.setHeader(name, value);
    await next();
    if (outgoing === undefined) complete(c.res.headers);
    if (isStopping()) presetHeader(c, "Connection", "close");
  };
}

/** Sets a header of an answer that is not made yet, or on a socket not sent yet. */
function presetHeader(c: Context<ServerEnv>, name: string, value: string): void {
  const outgoing = c.env?.outgoing;
  if (outgoing === undefined) c.header(name, value);
  else outgoing.setHeader(name, value);
}

function complete(headers: Headers): void {
  for (const [name, value] of OF_EVERY_ANSWER) if (!headers.has(name)) headers.set(name, value);
}
