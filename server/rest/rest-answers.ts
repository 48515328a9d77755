/** What the routes have in common: how their failures are described, and how a refused input is worded. */

import type { $ZodIssue } from "zod/v4/core";
import { fieldOf, invalidField, ruleOf } from "../../app/index.ts";
import { failure } from "./components.ts";

const WORDS = {
  400: "A field is missing, malformed or beyond its limit; nothing was written.",
  401: "No token, or an invalid one.",
  403: "The caller may not do this.",
  404: "It does not exist, or it is not the caller's.",
  413: "The body is beyond its limit.",
  415: "The body is not JSON.",
  422: "The pack could not do what it was asked to.",
  429: "Too many requests; see Retry-After.",
  502: "Another service, which the pack needs, failed.",
  503: "Memory is not available; the message says why.",
  504: "It took too long.",
} as const;

type Failing = keyof typeof WORDS;

/** Failures as OpenAPI describes them, all with the same envelope; those that every route can have are added. */
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

/** Of the routes whose empty body counts as `{}`: see parseBody. */
export function optionalBody<Schema>(schema: Schema) {
  return { ...jsonBody(schema), required: false };
}

interface Checked {
  readonly success: boolean;
  readonly data?: unknown;
  readonly error?: { readonly issues: readonly $ZodIssue[] };
}

/** Hook of every route: throws `invalid_input` with the first thing that the schema objects to. */
export function refuseInvalid({ success, data, error }: Checked): void {
  const issue = error?.issues[0];
  if (success || issue === undefined) return;
  const field = fieldOf(issue) || "The body";
  throw invalidField(field, ruleOf(withInput(issue, data)));
}

/** The validator leaves out what was given; whether anything was tells "missing" from "wrong". */
function withInput(issue: $ZodIssue, data: unknown): $ZodIssue {
  // Each kind of issue types its input as what the schema wants, which it is not.
  return { ...issue, input: valueAt(data, issue.path) } as $ZodIssue;
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
