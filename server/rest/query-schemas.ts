/** Query parameters: the wire's fields as text. */
import { z } from "@hono/zod-openapi";
import type { Memory, UseCase } from "../../app/memory.ts";
import type { Fits } from "../../app/operations/operation.ts";
import type { FromWire } from "../../app/wire/codec.ts";
import { ANSWER_LIMITS, limitsText, RECALL_MODES, RECALL_TEXT } from "../../engine/answer-limits.ts";
import { DAY_OR_TIME, readMoment } from "../../engine/rfc3339.ts";

/** A whole number; the use case checks its bounds. */
const wholeNumber = z
  .string()
  .regex(/^\d{1,7}$/, "must be a whole number")
  .transform(Number)
  .optional();

function limit(description: string) {
  return wholeNumber.openapi({ type: "integer", description });
}

function flag(description: string) {
  return z
    .enum(["true", "false", "1", "0"])
    .transform((text) => text === "true" || text === "1")
    .optional()
    .openapi({ type: "boolean", description });
}

function moment(description: string) {
  return z
    .string()
    .refine((written) => readMoment(written, "end") !== undefined, `must be ${DAY_OR_TIME}`)
    .optional()
    .openapi({ description: `${description} A time, or a day in UTC.` });
}

const text = (description: string) => z.string().optional().openapi({ description });

const listFacts = z.strictObject({
  prefix: text("Only keys that begin with exactly this; case matters, no wildcards."),
  category: text("Only facts of this category."),
  tag: text("Only facts with exactly this tag."),
  expiring: flag("true: only facts that expire within 14 days."),
  pinned: flag("true: only pinned facts."),
  newest_first: flag("true: sort pinned facts by their times, too."),
  soonest_first: flag("true: only facts that expire within 14 days, soonest first."),
  as_of: moment("What the memory said then, as far as histories tell. Not with expiring or soonest_first."),
  limit: limit(`Maximum number of facts: ${limitsText(ANSWER_LIMITS.facts)}.`),
  cursor: text("next_cursor of the previous page."),
});

const getFact = z.strictObject({
  as_of: moment("What the fact said then, as far as histories tell."),
});

const factHistory = z.strictObject({
  since: moment("Only values that another one replaced later."),
});

const listRuns = z.strictObject({
  kind: z.enum(["pack", "pipeline", "tool"]).optional().openapi({ description: "Only runs of this kind." }),
  outcome: z
    .enum(["ok", "failed"])
    .optional()
    .openapi({ description: "failed: every outcome other than ok." }),
  until: moment("Only runs recorded at or before then.").transform(
    (written) => readMoment(written, "end")?.at,
  ),
  limit: limit("Maximum number of runs: 1 to 200; default 50."),
  cursor: text("next_cursor of the previous page."),
});

const review = z.strictObject({
  limit: limit(`Maximum number of findings: ${limitsText(ANSWER_LIMITS.findings)}.`),
  cursor: text("next_cursor of the previous page."),
});

const corpusPage = z.strictObject({
  query: text("Words or a question to rank by. Absent: all entries, newest first."),
  limit: limit(`Maximum number of chunks: ${limitsText(ANSWER_LIMITS.chunks)}.`),
  cursor: text("next_cursor of the previous page. Not with a query."),
  recall: z
    .enum(RECALL_MODES)
    .optional()
    .openapi({ description: `${RECALL_TEXT} Only with a query; default balanced.` }),
});

const exportPage = z.strictObject({
  with_history: flag("true: with former values."),
  limit: limit(`Maximum number of lines: ${limitsText(ANSWER_LIMITS.facts)}.`),
  cursor: text("next_cursor of the previous page."),
});

const callers = z.strictObject({
  limit: limit(`Maximum number of callers: ${limitsText(ANSWER_LIMITS.callers)}.`),
  cursor: text("next_cursor of the previous page."),
});

const inputs = { listFacts, getFact, factHistory, listRuns, review, corpusPage, exportPage, callers };
type Inputs = typeof inputs;
inputs satisfies {
  readonly [Name in keyof Inputs]: Fits<
    FromWire<z.infer<Inputs[Name]>>,
    Partial<NonNullable<Parameters<Memory[Name]>[1]>>
  >;
};

/** By operation of memory. */
export const QUERIES: Partial<Record<UseCase, z.ZodObject>> = inputs;

export const packQuerySchema = z.strictObject({
  session_id: text("Continue in this open session of the same caller."),
});

export const pipelineQuerySchema = z.strictObject({
  wait: flag("false: answer 202 at once, as with Prefer: respond-async."),
});
