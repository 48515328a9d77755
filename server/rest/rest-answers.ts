/** Shared by the routes: descriptions of failures, and messages for refused input. */

import type { z } from "@hono/zod-openapi";
import type { $ZodIssue } from "zod/v4/core";
import {
  callerReplySchema,
  errorReplySchema,
  ownStatusReplySchema,
  readinessReplySchema,
  recordedReplySchema,
  runRequestSchema,
  tokensReplySchema,
  versionReplySchema,
} from "../../app/wire/schemas.ts";
import { invalidField } from "../../engine/errors.ts";
import { fieldOf, ruleOf } from "../../engine/schema-issues.ts";
import {
  packInfoSchema,
  packRunReplySchema,
  packsReplySchema,
  pipelineRunReplySchema,
  pipelinesReplySchema,
} from "../../packs/wire.ts";

const WORDS = {
  400: "A field is missing, malformed or beyond its limit; nothing was written.",
  401: "No token, or an invalid one.",
  403: "The caller is not allowed to do this.",
  404: "It does not exist, or it belongs to another caller.",
  409: "Somebody else changed it after the state that the request names; nothing was written.",
  413: "The body is too large.",
  415: "The body is not JSON.",
  422: "The pack failed.",
  429: "Too many requests; see Retry-After.",
  502: "A service that the pack needs failed.",
  503: "Memory is not available; the message says why.",
  504: "It took too long.",
} as const;

type Failing = keyof typeof WORDS;

/** Failures for OpenAPI, all with the same envelope, including those that every route can have. */
export function failures(...statuses: readonly Failing[]) {
  const all = [...new Set<Failing>([...statuses, 400, 401, 403, 429, 503])].sort((a, b) => a - b);
  return Object.fromEntries(
    all.map((status) => [
      String(status),
      { description: WORDS[status], content: { "application/json": { schema: failure } } },
    ]),
  );
}

export function json<Schema>(description: string, schema: Schema) {
  return { description, content: { "application/json": { schema } } };
}

export function jsonBody<Schema>(schema: Schema) {
  return { required: true, content: { "application/json": { schema } } };
}

/** For routes on which an empty body counts as `{}`: see parseBody. */
export function optionalBody<Schema>(schema: Schema) {
  return { ...jsonBody(schema), required: false };
}

export interface Checked {
  readonly success: boolean;
  readonly data?: unknown;
  readonly error?: { readonly issues: readonly $ZodIssue[] };
}

/** Validation hook of every route: throws `invalid_input` for the schema's first issue. */
export function refuseInvalid({ success, data, error }: Checked): void {
  const issue = error?.issues[0];
  if (success || issue === undefined) return;
  const field = fieldOf(issue) || "The body";
  // The validator omits the input, which tells "missing" from "wrong". Each kind of issue types its input as the expected type.
  throw invalidField(field, ruleOf({ ...issue, input: valueAt(data, issue.path) } as $ZodIssue));
}

function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? Reflect.get(value, key)
        : undefined,
    data,
  );
}

/** Schemas with their names in the OpenAPI description, each described once. */
export function named<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  // Schemas created before the library added its method do not have it; a new copy does.
  return schema.clone().openapi(name);
}

const failure = named("Failure", errorReplySchema);
export const runRequest = named("RunRequest", runRequestSchema);
export const recorded = named("Recorded", recordedReplySchema);
/** Without its own name, because few clients read it. */
export const readiness = readinessReplySchema;
export const version = versionReplySchema;
export const caller = named("Caller", callerReplySchema);
export const tokens = named("TokensInUse", tokensReplySchema);
export const ownStatus = named("OwnStatus", ownStatusReplySchema);
export const pack = named("Pack", packInfoSchema);
export const packs = named("Packs", packsReplySchema);
export const packRun = named("PackRun", packRunReplySchema);
export const pipelines = named("Pipelines", pipelinesReplySchema);
export const pipelineRun = named("PipelineRun", pipelineRunReplySchema);
