/** Validates audit rows when they are written, imported or read back. */

import * as z from "zod/mini";
import { defined } from "../defined.ts";
import { invalidField } from "../errors.ts";
import { problemOfName } from "../facts/hostile-text.ts";
import { fieldOf, ruleOf } from "../schema-issues.ts";
import type { AuditFinding, PackAudit, PipelineAudit, ToolAudit } from "./audit-rows.ts";
import { cutInput, learnableInputs } from "./learnable.ts";

export const AUDIT_LIMITS = {
  nameBytes: 256,
  wordCharacters: 128,
  fileCharacters: 512,
  findings: 50,
  /** Inputs of a tool call. */
  inputs: 16,
  inputNameCharacters: 64,
} as const;

/** The last second that RFC 3339 can express, in the year 9999. */
const LAST_SECOND = 253_402_300_799;

const harmless = z.refine<string>((text) => problemOfName(text) === undefined, {
  error: "holds a control or invisible character",
});

const name = z.string().check(
  z.trim(),
  z.minLength(1, "must not be empty"),
  z.refine((text: string) => Buffer.byteLength(text) <= AUDIT_LIMITS.nameBytes, {
    error: `may have at most ${AUDIT_LIMITS.nameBytes} bytes`,
  }),
  harmless,
);

export const finding = z.object({
  code: word(AUDIT_LIMITS.wordCharacters),
  /** May be empty: some checkers give no severity. */
  severity: text(AUDIT_LIMITS.wordCharacters),
  file: z.exactOptional(word(AUDIT_LIMITS.fileCharacters)),
});

const timed = {
  at_unix: z
    .int("must be whole seconds since 1970")
    .check(z.gte(0, "must not be before 1970"), z.lte(LAST_SECOND, "must be seconds, not milliseconds")),
  duration_ms: z.exactOptional(z.number().check(z.gte(0, "must not be negative"))),
};

const shared = { ...timed, learn_inputs: z.exactOptional(z.record(z.string(), z.string())) };

const packShape = {
  pack: name,
  version: z.exactOptional(word(AUDIT_LIMITS.wordCharacters)),
  outcome: word(AUDIT_LIMITS.wordCharacters),
  ...shared,
  findings: z.exactOptional(
    z.array(finding).check(z.maxLength(AUDIT_LIMITS.findings, `may be at most ${AUDIT_LIMITS.findings}`)),
  ),
};

const pipelineShape = {
  pipeline: name,
  run_id: word(AUDIT_LIMITS.wordCharacters),
  outcome: z.enum(["succeeded", "failed", "cancelled"], "must be succeeded, failed or cancelled"),
  ...shared,
};

const toolShape = {
  tool: name,
  outcome: z.enum(["ok", "failed"], "must be ok or failed"),
  ...timed,
  inputs: z.exactOptional(
    z.record(word(AUDIT_LIMITS.inputNameCharacters), z.string()).check(
      z.refine((inputs) => Object.keys(inputs).length <= AUDIT_LIMITS.inputs, {
        error: `may be at most ${AUDIT_LIMITS.inputs}`,
      }),
    ),
  ),
};

// Writers may use known fields only; readers accept fields that a later version may have added.
const strictPack = z.strictObject(packShape);
const strictPipeline = z.strictObject(pipelineShape);
const strictTool = z.strictObject(toolShape);
const readablePack = z.object(packShape);
const readablePipeline = z.object(pipelineShape);
const readableTool = z.object(toolShape);

/** The row, reduced to its learnable inputs. Throws `invalid_input`, naming the field, also for unknown fields. */
export function checkPackAudit(row: unknown): PackAudit {
  return requireRow(strictPack.safeParse(row, { reportInput: true }), packRow);
}

/** Like {@link checkPackAudit}. */
export function checkPipelineAudit(row: unknown): PipelineAudit {
  return requireRow(strictPipeline.safeParse(row, { reportInput: true }), pipelineRow);
}

/** The row with its inputs truncated. Throws `invalid_input`, naming the field. */
export function checkToolAudit(row: unknown): ToolAudit {
  return requireRow(strictTool.safeParse(row, { reportInput: true }), toolRow);
}

/** Reads a stored row; undefined when it is malformed. */
export function readPackAudit(row: unknown): PackAudit | undefined {
  const parsed = readablePack.safeParse(row);
  return parsed.success ? packRow(parsed.data) : undefined;
}

/** Like {@link readPackAudit}. */
export function readPipelineAudit(row: unknown): PipelineAudit | undefined {
  const parsed = readablePipeline.safeParse(row);
  return parsed.success ? pipelineRow(parsed.data) : undefined;
}

/** Like {@link readPackAudit}. */
export function readToolAudit(row: unknown): ToolAudit | undefined {
  const parsed = readableTool.safeParse(row);
  return parsed.success ? toolRow(parsed.data) : undefined;
}

function word(most: number) {
  return text(most).check(z.minLength(1, "must not be empty"));
}

function text(most: number) {
  return z.string().check(z.trim(), z.maxLength(most, `may have at most ${most} characters`), harmless);
}

function packRow({ pack, version, outcome, findings, ...rest }: z.output<typeof readablePack>): PackAudit {
  return {
    pack,
    ...defined({ version }),
    outcome,
    ...sharedRow(rest),
    ...(findings === undefined || findings.length === 0
      ? {}
      : { findings: findings satisfies AuditFinding[] }),
  };
}

function pipelineRow({
  pipeline,
  run_id,
  outcome,
  ...rest
}: z.output<typeof readablePipeline>): PipelineAudit {
  return { pipeline, run_id, outcome, ...sharedRow(rest) };
}

function toolRow({
  tool,
  outcome,
  at_unix,
  duration_ms,
  inputs = {},
}: z.output<typeof readableTool>): ToolAudit {
  const kept = Object.entries(inputs).flatMap(([field, value]) => {
    const cut = cutInput(value);
    return cut === undefined ? [] : [[field, cut] as const];
  });
  return {
    tool,
    outcome,
    at_unix,
    ...roundedDuration(duration_ms),
    ...(kept.length > 0 && { inputs: Object.fromEntries(kept) }),
  };
}

interface SharedFields {
  readonly at_unix: number;
  readonly duration_ms?: number;
  readonly learn_inputs?: Readonly<Record<string, string>>;
}

function sharedRow({ at_unix, duration_ms, learn_inputs }: SharedFields): SharedFields {
  const inputs = learnableInputs(learn_inputs);
  return {
    at_unix,
    ...roundedDuration(duration_ms),
    ...defined({ learn_inputs: inputs }),
  };
}

function roundedDuration(durationMs: number | undefined): { readonly duration_ms?: number } {
  return durationMs === undefined ? {} : { duration_ms: Math.round(durationMs) };
}

function requireRow<Parsed, Row>(
  result: z.core.util.SafeParseResult<Parsed>,
  rowOf: (parsed: Parsed) => Row,
): Row {
  if (result.success) return rowOf(result.data);
  const issue = result.error.issues[0];
  const field = issue === undefined ? "" : fieldOf(issue);
  throw invalidField(field, ruleOf(issue), { named: `The audit row's ${field || "text"}` });
}
