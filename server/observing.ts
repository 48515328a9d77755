/**
 * Logs each request's id, route pattern, status, error code and duration, and a name of its caller if that is asked for.
 *
 * Threat: whoever reads the log learns what is stored or who stores it, or a client writes into the log. Defence: no address,
 * header or body is logged, and of a client's request id only hexadecimal digits of a fixed number. A caller's name is a keyed
 * hash, which cannot be computed from a list of likely subjects.
 */
import { createHmac, type KeyObject, randomUUID } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { Logger } from "pino";
import { defined } from "../engine/defined.ts";
import { asHelmdeckError, type ErrorCode, type HelmdeckError } from "../engine/errors.ts";
import type { FailureListener } from "./answer-failures.ts";
import type { ServerEnv } from "./caller.ts";
import type { Metrics } from "./metrics.ts";
import { isServersFault } from "./status.ts";

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** A UUID or a trace id, as proxies make them. Anything else could have words in it. */
const REQUEST_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$|^[0-9a-f]{32}$/i;

/** Machines ask every few seconds. What these tell of has lines of its own. */
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

export interface Observing {
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly callerName: (subject: string) => string | undefined;
}

export function observeRequests(observing: Observing): MiddlewareHandler<ServerEnv> {
  const { metrics, log } = observing;
  return async (c, next) => {
    const started = performance.now();
    const sent = c.req.header("x-request-id");
    const requestId = sent !== undefined && REQUEST_ID.test(sent) ? sent : randomUUID();
    c.set("requestId", requestId);
    presetHeader(c, "X-Request-Id", requestId);
    await next();
    const milliseconds = performance.now() - started;
    const method = METHODS.has(c.req.method) ? c.req.method : "other";
    // The pattern, such as `/api/v1/packs/:name`. Middleware matches every method.
    const route = matchedRoutes(c).findLast((each) => each.method !== "ALL")?.path ?? "unmatched";
    const { status } = c.res;
    metrics.answered({ method, route, status, seconds: milliseconds / 1_000 });
    const ms = Math.round(milliseconds * 10) / 10;
    const line = { requestId, method, route, status, ms, ...failureIn(c), ...callerIn(c, observing) };
    if (PROBES.has(route)) log.debug(line, "request");
    else if (line.code === undefined ? status >= 500 : isServersFault(line.code)) log.warn(line, "request");
    else log.info(line, "request");
  };
}

/** The code, and for failures that are not the client's the reason. */
function failureIn(c: Context<ServerEnv>): { readonly code?: ErrorCode; readonly problem?: string } {
  const { code, message } = c.get("failure") ?? {};
  if (code === undefined) return {};
  return { code, ...(isServersFault(code) && defined({ problem: message })) };
}

function callerIn(c: Context<ServerEnv>, { callerName }: Observing): { readonly caller?: string } {
  const caller = c.get("caller") ?? c.get("pageSession")?.caller;
  return caller === undefined ? {} : defined({ caller: callerName(caller.subject) });
}

/** Enough for a million callers to be told apart. */
const NAME_DIGITS = 16;

/** Names a caller the same in every engine whose first secret this is. */
export function hashedName(secret: KeyObject, subject: string): string {
  return createHmac("sha256", secret)
    .update(`caller in logs: ${subject}`)
    .digest("hex")
    .slice(0, NAME_DIGITS);
}

export interface FailureWatch {
  readonly metrics: Metrics;
  readonly log: Logger;
  /** For tests that must fail on any unexpected error, whatever its status. */
  readonly onUnexpected?: (error: unknown) => void;
}

export function watchFailures({ metrics, log, onUnexpected }: FailureWatch): FailureListener {
  return {
    failed: metrics.failed,
    unexpected: (error, requestId) => {
      metrics.unexpected(kindOf(error));
      // The error's own text could contain anything; this message has only its class and location.
      const { message }: HelmdeckError = asHelmdeckError(error);
      log.error({ requestId, kind: kindOf(error), problem: message }, "unexpected error");
      onUnexpected?.(error);
    },
  };
}

/** The line of the request says only that it was answered. */
export function logToolFailure(log: Logger, { code, message }: HelmdeckError): void {
  if (code !== "internal" && isServersFault(code)) log.warn({ code, problem: message }, "a tool failed");
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
