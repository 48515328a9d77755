/** A route for each operation of memory that REST offers. Other routes about memory: host-routes.ts. */

import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { failed } from "../../app/audit-log.ts";
import type { Asker } from "../../app/memory.ts";
import { OPERATIONS, perform } from "../../app/operations/index.ts";
import type { Operation, Rest } from "../../app/operations/operation.ts";
import { isSubject } from "../../app/subject.ts";
import type { WriterClaim } from "../../app/wire/schemas.ts";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError, invalidField } from "../../engine/errors.ts";
import { isRecord } from "../../engine/json.ts";
import type { ServerContext } from "../../packs/server-context.ts";
import { hasScope } from "../authentication.ts";
import { ADMIN_SCOPE, type Caller, RECORD_SCOPE, type ServerEnv } from "../caller.ts";
import { QUERIES } from "./query-schemas.ts";
import { type Checked, failures, json, jsonBody, named, refuseInvalid } from "./rest-answers.ts";

const KEY_PARAMS = z.object({
  key: z.string().openapi({
    description:
      "Percent-encoded, slashes as %2F. If no fact has this key, it is read as a path, docid or citation.",
    example: "deploy/preference",
  }),
});

type Served = Pick<ServerContext, "memory" | "audit">;

export function addOperationRoutes(app: OpenAPIHono<ServerEnv>, served: Served): void {
  for (const one of OPERATIONS) if (one.rest !== undefined) addRoute(app, served, one, one.rest);
}

function addRoute(
  app: OpenAPIHono<ServerEnv>,
  { memory, audit }: Served,
  operation: Operation,
  rest: Rest,
): void {
  const refuse = async (caller: Caller, owner: unknown, error: unknown): Promise<never> => {
    const actor = { kind: "caller", name: caller.subject, surface: "rest" } as const;
    const object = isSubject(owner) ? { subject: owner } : {};
    if (operation.audit) await audit?.({ action: operation.audit, ...failed(error), actor, object });
    throw error;
  };
  const checkInput = (checked: Checked, c: Context<ServerEnv>): Promise<never> | undefined => {
    try {
      refuseInvalid(checked);
      return undefined;
    } catch (error) {
      const caller = c.get("caller");
      const { dry_run, caller: named, subject = named } = isRecord(checked.data) ? checked.data : {};
      const isOwn = subject === undefined || subject === caller.subject;
      if (dry_run === true || (operation.effects.readOnly && isOwn)) throw error;
      return refuse(caller, subject ?? caller.subject, error);
    }
  };
  app.openapi(
    routeOf(operation, rest),
    async (c) => {
      const caller = c.get("caller");
      const {
        writer,
        caller: named,
        subject: owner = named,
        ...input
      }: Request = validOf(c.req, operation, rest);
      const isUnnamed = owner === undefined || (owner === named && owner.trim() === ""); // by helmdeck's clients
      let subject: string | undefined;
      try {
        subject = subjectOf(caller, rest, isUnnamed ? caller.subject : owner);
        if (subject !== caller.subject && operation.effects.destructive) requireShown(input);
      } catch (error) {
        return refuse(caller, owner, error);
      }
      return c.json(await perform(operation, memory, subject, input, writerOf(caller, writer)), 200);
    },
    checkInput,
  );
}

interface Request {
  readonly writer?: WriterClaim;
  readonly caller?: string;
  readonly subject?: string;
  readonly dry_run?: boolean | null;
  readonly up_to?: number | null;
}

function validOf(request: { valid(target: never): unknown }, operation: Operation, rest: Rest) {
  const { query, input } = fieldsOf(operation, rest);
  const targets = [
    ...(rest.path.includes("{key}") ? ["param"] : []),
    ...(query === undefined ? [] : ["query"]),
    ...(input === undefined ? [] : ["json"]),
  ];
  return Object.assign({}, ...targets.map((target) => request.valid(target as never)));
}

/** With the field for whose memory it is, if an operation has one. */
function fieldsOf({ name, input }: Operation, { whose }: Rest) {
  const query = QUERIES[name];
  if (typeof whose !== "object") return { query, input };
  const owner = {
    [whose.named]: z.string().optional().describe("Another caller; only with the scope admin."),
  };
  if (input !== undefined) return { query, input: input.extend(owner) };
  return { query: (query ?? z.strictObject({})).extend(owner), input };
}

function routeOf(operation: Operation, rest: Rest) {
  const { name, summary, description, reply } = operation;
  const { method, path, id = name, answers, fails = [], names } = rest;
  const { query, input } = fieldsOf(operation, rest);
  return createRoute({
    ...{ method, path, tags: ["memory"], operationId: id, summary },
    ...(description !== undefined && { description }),
    request: {
      ...(path.includes("{key}") && { params: KEY_PARAMS }),
      ...(query !== undefined && { query }),
      ...(input !== undefined && { body: jsonBody(named(names.input ?? id, input)) }),
    },
    responses: {
      200: json(answers, named(names.reply, reply)),
      ...failures(...fails, ...(method === "post" ? ([413, 415] as const) : [])),
    },
  });
}

/**
 * Undefined: everybody.
 *
 * Threat: a caller with a token who names another, to read or delete that one's memory, or to learn whether there is one. Defence:
 * only a token with the scope `admin` may name another; any other gets one refusal before memory is asked.
 */
function subjectOf(caller: Caller, { whose = "own" }: Rest, owner: string): string | undefined {
  const isAdmin = hasScope(caller, ADMIN_SCOPE);
  if (whose === "everybody's" && isAdmin) return undefined;
  if (owner === caller.subject) return owner;
  if (!isAdmin)
    throw new HelmdeckError("forbidden", "Another caller's memory requires a token with the scope admin.");
  if (owner.trim() !== "") return owner;
  throw invalidField("subject", "is empty; name a caller, or leave it out for your own memory");
}

/** What an operator deletes of another caller must have been counted before. */
function requireShown({ dry_run, up_to }: Pick<Request, "dry_run" | "up_to">): void {
  if (dry_run === true || typeof up_to === "number") return;
  throw invalidField(
    "up_to",
    "is missing; forget another caller's memory with the revision of a dry run, which counts what would go",
  );
}

/**
 * The writer that is recorded for changes over REST.
 *
 * Threat: a caller with a token whose writes pretend to come from somebody else. Defence: the server itself sets the surface
 * and the token's subject, whatever a request says. A host's plugin with the scope `record` may name its agent and the kind
 * of session; this is recorded as its claim, in addition to the subject and never instead of it. It may also say that a person
 * asks, which confirms a pin.
 */
export function writerOf(caller: Caller, claim: WriterClaim | undefined): Asker {
  const { subject } = caller;
  const own = { surface: "rest", agent: subject, caller: subject };
  if (claim === undefined || !hasScope(caller, RECORD_SCOPE)) return own;
  const { agent = subject, session_kind: sessionKind, person: isPerson } = claim;
  const named = agent === subject ? subject : `${subject}/${agent}`;
  const surface = isPerson ? "rest-person" : "rest";
  return { ...own, surface, agent: named, ...defined({ sessionKind, isPerson }) };
}
