/** What a memory holds, without values: my-memory, defaults, growth, revision, callers. */
import * as z from "zod";
import { nextCursor, rfc3339Schema, wholeNumber } from "../wire/fields.ts";
import { callersReply } from "../wire/replies.ts";
import { ADDS, operation, READS } from "./operation.ts";

export const expiringSchema = z
  .object({
    count: z.int().min(1),
    soonest: z
      .array(
        z.object({
          key: z.string(),
          category: z.string(),
          expires_at: rfc3339Schema("From then on it is hidden."),
          pinned: z.literal(true).optional().describe("Only a person can keep it longer."),
        }),
      )
      .describe("Ten: pinned ones first, then the next to expire."),
  })
  .optional()
  .describe(
    "Facts that expire within 14 days; renew those that are still true. Left out when there are none.",
  );

const myMemory = operation("myMemory", {
  summary: "The caller's categories, counts and recent keys, without values.",
  effects: READS,
  reply: z.object({
    scope: z.string().describe("The owner of the memory: caller=<subject>."),
    fetched_at: rfc3339Schema("The time of this summary."),
    categories: z.array(
      z.object({
        name: z.string(),
        count: wholeNumber,
        recent_keys: z.array(z.string()).describe("The five newest."),
      }),
    ),
    expiring: expiringSchema,
    note: z.string().optional(),
  }),
  rest: {
    method: "get",
    path: "/api/v1/memory",
    answers: "Categories with counts and recent keys.",
    names: { reply: "MyMemory" },
  },
});

const tellEnding = operation("tellEnding", {
  summary: "How many facts end within 14 days, once a day.",
  description: "For whoever shows it to a person: from then on until midnight the answer is 0.",
  effects: ADDS,
  reply: z.object({ facts: wholeNumber.describe("Without those that were stored for 14 days or less.") }),
  rest: {
    method: "post",
    path: "/api/v1/memory/ending",
    answers: "How many a person should be told of now.",
    names: { reply: "Ending" },
  },
});

const commonInputs = z
  .record(z.string(), z.string())
  .optional()
  .describe("The most frequent input for each field: a good default for the next run.");

const lastUsed = z.int().describe("Seconds since 1970.");

const defaultsReplySchema = z.object({
  scope: z.string().describe("The owner of these habits: caller=<subject>."),
  fetched_at: rfc3339Schema("The time of this summary."),
  packs: z.array(
    z.object({
      id: z.string(),
      calls: wholeNumber,
      last_used_unix: lastUsed,
      common_inputs: commonInputs,
    }),
  ),
  pipelines: z.array(
    z.object({
      id: z.string(),
      runs: wholeNumber,
      last_used_unix: lastUsed,
      common_inputs: commonInputs,
    }),
  ),
  common_findings: z
    .array(
      z.object({
        code: z.string(),
        pack: z.string(),
        severity: z.string(),
        occurrence_count: wholeNumber,
        last_seen_unix: lastUsed,
      }),
    )
    .optional(),
  recent: z
    .array(
      z.object({
        kind: z.enum(["pack", "pipeline"]),
        key: z.string(),
        id: z.string(),
        outcome: z.string(),
        at_unix: z.int(),
        duration_ms: z.number().min(0).optional(),
        learn_inputs: z.record(z.string(), z.string()).optional(),
      }),
    )
    .describe("Newest first, at most 200."),
  note: z.string().optional(),
});

/** The use case answers in the reply's own names. */
const defaults = operation("defaults", {
  summary: "The caller's usual inputs, learned from past runs.",
  effects: READS,
  reply: defaultsReplySchema,
  isServed: false,
  rest: {
    method: "get",
    path: "/api/v1/memory/defaults",
    id: "myDefaults",
    answers: "Defaults learned from runs.",
    names: { reply: "Defaults" },
    whose: { named: "caller" },
  },
});

const growth = operation("growth", {
  summary: "When the caller's entries were stored, and their size.",
  effects: READS,
  reply: z.object({
    days: z
      .array(z.object({ day: z.string(), facts: wholeNumber, runs: wholeNumber }))
      .describe("Days (UTC) on which something was stored that still exists, oldest first."),
    bytes: wholeNumber.describe("Size of all stored values, including former ones and caches."),
  }),
  rest: {
    method: "get",
    path: "/api/v1/memory/growth",
    id: "memoryGrowth",
    answers: "By day.",
    names: { reply: "Growth" },
  },
});

const revision = operation("revision", {
  summary: "A number that grows with every change.",
  effects: READS,
  reply: z.object({
    revision: z.int().describe("Grows with every change in the caller's visible facts and runs."),
  }),
  toReply: (number) => ({ revision: number }),
  fromReply: (reply) => reply.revision,
  rest: {
    method: "get",
    path: "/api/v1/memory/revision",
    id: "memoryRevision",
    answers: "The number.",
    names: { reply: "Revision" },
  },
});

const callers = operation("callers", {
  summary: "Who uses how much: only the caller itself, or everybody with the scope admin.",
  effects: READS,
  reply: z.object({
    callers: z.array(
      z.object({
        namespace: z.string().describe("The caller's name in its token."),
        count: wholeNumber.describe("Entries of every kind, in the store that all engines share."),
        bytes: wholeNumber.describe("Size of its values, including former ones and caches."),
        requests: wholeNumber.optional().describe("Requests to this engine since it started."),
        refused: z
          .object({ rate: wholeNumber, size: wholeNumber, limit: wholeNumber, auth: wholeNumber })
          .optional()
          .describe("Refused: too many, too large, over what it may store, without the right."),
      }),
    ),
    engine: z
      .object({
        started_at: rfc3339Schema("Requests are counted since then."),
        dropped: wholeNumber.describe("Callers whose counts made room for others', and begin at 0 again."),
      })
      .optional(),
    next_cursor: nextCursor,
  }),
  toReply: callersReply,
  isServed: false,
  rest: {
    method: "get",
    path: "/api/v1/memory/callers",
    id: "listCallers",
    answers: "Callers by name.",
    names: { reply: "Callers" },
    whose: "everybody's",
  },
});

export const OVERVIEW_OPERATIONS = [myMemory, tellEnding, defaults, callers, growth, revision];
