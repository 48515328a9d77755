/**
 * Reads bodies: size-limited, JSON or (for pages) a form, and unambiguous.
 *
 * Threat: a client sends an endless or endlessly nested body, or one that two parsers read differently (a repeated key,
 * bytes that are not UTF-8). Defence: each is refused before any code uses the content.
 */
import type { Context, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { problemOfJson } from "../../app/wire/strict-json.ts";
import { HelmdeckError, invalidField, isHelmdeckError } from "../../engine/errors.ts";
import type { ServerEnv } from "../caller.ts";
import { isDecodable } from "./addresses.ts";

/** Room for a 64 KiB value with every byte as a six-character escape, and for the other fields. */
export const MOST_BODY_BYTES = 512 * 1_024;

const JSON_TYPE = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;\s*charset="?utf-8"?\s*)?$/i;
/** Runs of packs and pipelines. */
const RUNS = /^\/api\/v1\/(?:packs|pipelines)\/./;
const WITHOUT_BODY = new Set(["GET", "HEAD", "OPTIONS"]);

export function isRead(c: Context<ServerEnv>): boolean {
  return WITHOUT_BODY.has(c.req.method);
}

export const limitBody: MiddlewareHandler<ServerEnv> = async (c, next) => {
  if (isRead(c)) return next(); // no route reads a body there, and accessing it would create one
  const length = c.req.header("content-length");
  if (length !== undefined && c.req.header("transfer-encoding") === undefined) {
    if (Number(length) > MOST_BODY_BYTES) refuseLarge();
    return next(); // without a stream, which the middleware would create for every body
  }
  let isWithin = false;
  try {
    return await bounded(c, () => {
      isWithin = true;
      return next();
    });
  } catch (error) {
    // A body without a length is read completely here.
    throw isWithin || isHelmdeckError(error) ? error : incomplete(error);
  }
};

const bounded = bodyLimit({ maxSize: MOST_BODY_BYTES, onError: refuseLarge });

function refuseLarge(): never {
  const message = `The body may have at most ${MOST_BODY_BYTES} bytes; send less at a time.`;
  throw new HelmdeckError("too_large", message, { details: { limitBytes: MOST_BODY_BYTES } });
}

/** Sets the parsed body as `body`; undefined if the request has none. A POST must have a body, except for a run without input. */
export const parseBody: MiddlewareHandler<ServerEnv> = async (c, next) => {
  const text = isRead(c) ? "" : await textOf(c, JSON_TYPE, "JSON: send Content-Type: application/json");
  if (text === "" && c.req.method === "POST") {
    // An empty body counts as {} for runs, as in helmdeck. Not for other routes: `forget` would delete.
    if (!RUNS.test(c.req.path)) throw refuse("has no body; send JSON", "The request");
    takeBody(c, "{}");
  } else if (text !== "") takeBody(c, text);
  return next();
};

/** Sets the fields of a page's form as `form`; empty if the request has no body. */
export const parseForm: MiddlewareHandler<ServerEnv> = async (c, next) => {
  const text = isRead(c) ? "" : await textOf(c, FORM_TYPE, "a form: application/x-www-form-urlencoded");
  if (!isDecodable(text)) throw refuse("is not percent-encoded UTF-8");
  c.set("form", new URLSearchParams(text));
  return next();
};

function takeBody(c: Context<ServerEnv>, text: string): void {
  c.set("body", parse(text));
  // The routes' own validation reads this cache; otherwise it would decode the bytes again. The library stores promises in it, but types them as resolved values.
  c.req.bodyCache.text = Promise.resolve(text) as unknown as string;
}

async function textOf(c: Context<ServerEnv>, type: RegExp, wanted: string): Promise<string> {
  const bytes = await bytesOf(c);
  if (bytes.byteLength === 0) return "";
  if (!type.test(c.req.header("content-type") ?? "")) throw unsupported(`The body must be ${wanted}.`);
  if ((c.req.header("content-encoding") ?? "identity") !== "identity") {
    throw unsupported("The body must not be compressed.");
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refuse("is not UTF-8 text");
  }
}

async function bytesOf(c: Context<ServerEnv>): Promise<ArrayBuffer> {
  try {
    return await c.req.arrayBuffer();
  } catch (cause) {
    throw incomplete(cause);
  }
}

/** The connection ended before the body was complete: nobody waits for an answer, and nothing on our side failed. */
function incomplete(cause: unknown): HelmdeckError {
  return new HelmdeckError("cancelled", "The body did not arrive completely.", { cause });
}

function parse(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse("is not JSON"); // The parser's own message would quote the body.
  }
  const problem = problemOfJson(text);
  if (problem !== undefined) throw refuse(problem);
  return value;
}

function refuse(rule: string, named = "The body"): HelmdeckError {
  return invalidField("body", rule, { named });
}

function unsupported(message: string): HelmdeckError {
  return new HelmdeckError("unsupported_media_type", message);
}
