/** The schema of a failure. */
import * as z from "zod";
import type { PackAudit, ToolAudit } from "../../engine/audit/audit-rows.ts";
import { defined } from "../../engine/defined.ts";
import { ERROR_CODES } from "../../engine/errors.ts";
import type { Asker } from "../memory.ts";
import { expiringSchema } from "../operations/overview.ts";
import { endedSchema, rfc3339Schema, wholeNumber } from "./fields.ts";

export const errorReplySchema = z.object({
  error: z.enum(ERROR_CODES),
  message: z.string().describe("For a person: which field, which limit, what to do."),
  details: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe("The details of the message, for programs."),
  request_id: z
    .string()
    .optional()
    .describe("As in X-Request-Id and in the server's log. Absent if the request was not read."),
});

export type ErrorReply = z.infer<typeof errorReplySchema>;

/** A server's public health: schemas for REST. */
export const readinessReplySchema = z.object({
  status: z.enum(["ready", "unavailable"]),
  memory: z.enum(["ready", "read_only", "ephemeral", "unavailable"]),
  error: errorReplySchema.shape.error.optional(),
  message: z.string().optional().describe("Why memory does not work, or a note about it."),
});

export const versionReplySchema = z.object({ version: z.string() });

export type ReadinessReply = z.infer<typeof readinessReplySchema>;

/** A client's identity according to the server, and the state of its memory: schemas for REST. */
export const callerReplySchema = z.object({
  subject: z.string().describe("The owner of the memory: the token's sub."),
  authenticated: z.boolean().describe("Whether a token proves it."),
  scopes: z.array(z.string()),
  expires_at: rfc3339Schema("When the token expires; left out when it does not.").optional(),
});

export const tokensReplySchema = z.object({
  tokens: z.array(
    z.object({
      subject: z.string(),
      scopes: z.array(z.string()),
      secret: z.int().min(1).describe("The place of the secret that signed it: 1 is the first one."),
      issued_at: rfc3339Schema("When it was made; left out if it does not say.").optional(),
      expires_at: rfc3339Schema("When it expires."),
      last_used_at: rfc3339Schema("The last request with it."),
    }),
  ),
});

export const ownStatusReplySchema = z.object({
  mode: z.enum(["keyword", "hybrid"]).describe("How it is currently searched."),
  facts: wholeNumber,
  audit_rows: wholeNumber.describe("Records of runs and tool calls."),
  expiring: expiringSchema,
  ended: endedSchema,
});

export type CallerReply = z.infer<typeof callerReplySchema>;
export type OwnStatusReply = z.infer<typeof ownStatusReplySchema>;

const name = z.string().regex(/^[\w-]{1,64}$/, "must be 1 to 64 letters, digits, _ or -");

export const writerClaimSchema = z
  .strictObject({
    agent: name.optional().describe("The agent that writes."),
    session_kind: name.optional().describe("Such as direct, group, subagent or cron."),
    person: z.literal(true).optional().describe("A person asks or writes, not a model: confirms a pin."),
  })
  .describe(
    "The writer, as claimed by a host's plugin. It counts only with the scope record, in addition to the token's subject; otherwise it is ignored.",
  );

export type WriterClaim = z.infer<typeof writerClaimSchema>;

/**
 * The writer as claimed by the program that holds a token: schemas for REST. The server decides whether it counts.
 *
 * Undefined when there is nothing to claim, or a name is invalid.
 */
export function claimOf(writer: Asker | undefined): WriterClaim | undefined {
  const { agent, sessionKind: session_kind, isPerson: person } = writer ?? {};
  return writerClaimSchema.safeParse(defined({ agent, session_kind, person })).data;
}

const inputs = z
  .record(z.string(), z.string())
  .optional()
  .describe("Harmless ones only; what looks like a credential is left out.");

const run = {
  at_unix: z.number().describe("When, in seconds since 1970."),
  duration_ms: z.number().optional(),
  writer: writerClaimSchema.optional(),
};

export const runRequestSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("tool"),
    tool: z.string(),
    outcome: z.enum(["ok", "failed"]),
    ...run,
    inputs,
  }),
  z.strictObject({
    kind: z.literal("pack"),
    pack: z.string(),
    version: z.string().optional(),
    outcome: z.string(),
    ...run,
    learn_inputs: inputs,
  }),
]);

export const recordedReplySchema = z.object({ recorded: z.literal(true) });

export type RunRequest = z.infer<typeof runRequestSchema>;

export type RunToRecord =
  | { readonly kind: "tool"; readonly row: ToolAudit }
  | { readonly kind: "pack"; readonly row: PackAudit };

/** A record of a client's tool run, in the audit row's shape: schemas for REST. */
export function runOfRequest(request: RunRequest): RunToRecord {
  if (request.kind === "tool") {
    const { tool, outcome, at_unix, duration_ms, inputs } = request;
    return { kind: "tool", row: { tool, outcome, at_unix, ...defined({ duration_ms, inputs }) } };
  }
  const { pack, version, outcome, at_unix, duration_ms, learn_inputs } = request;
  return {
    kind: "pack",
    row: { pack, outcome, at_unix, ...defined({ version, duration_ms, learn_inputs }) },
  };
}
