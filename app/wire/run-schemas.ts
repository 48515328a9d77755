/** A record of a client's tool run, in the audit row's shape: schemas for REST. */
import * as z from "zod";
import type { PackAudit, ToolAudit } from "../../engine/audit/audit-rows.ts";
import { defined } from "../../engine/defined.ts";
import { writerClaimSchema } from "./writer-claim.ts";

const inputs = z
  .record(z.string(), z.string())
  .optional()
  .meta({ description: "Harmless ones only; what looks like a credential is left out." });

const run = {
  at_unix: z.number().meta({ description: "When, in seconds since 1970." }),
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
