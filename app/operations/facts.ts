/** Reads and lists facts. */
import * as z from "zod";
import { ANSWER_LIMITS, limitsText } from "../../engine/answer-limits.ts";
import { noFact } from "../presenters/history-text.ts";
import { endedSchema, nextCursor, rfc3339Schema } from "../wire/fields.ts";
import { operation, READS } from "./operation.ts";

export const writerSchema = z.object({
  surface: z.string().describe("The surface: openclaw, rest, pack (usually over MCP), cli."),
  agent: z.string().optional().describe("The agent or caller."),
  session_kind: z.string().optional().describe("Such as direct, group, subagent or cron."),
});

export const factSchema = z.object({
  key: z.string(),
  value: z.string(),
  category: z.string(),
  tags: z.array(z.string()),
  created_at: rfc3339Schema("When this key was first stored."),
  updated_at: rfc3339Schema("When its value was last stored."),
  expires_at: rfc3339Schema("From then on it is hidden; it is deleted later.").optional(),
  fingerprint: z.string().describe("The first 16 hex digits of the value's SHA-256."),
  revision: z.int().optional().describe("Another one after each change of the fact."),
  path: z.string().describe("Its path in the corpus."),
  pinned: z.literal(true).optional().describe("It stands in every prompt of its agent."),
  writer: writerSchema
    .optional()
    .describe("Who stored the value, as vouched for by the host; absent when unknown."),
  conversation_id: z.string().optional().describe("The conversation that it is a turn of."),
});

export const listFacts = operation("listFacts", {
  summary: "List facts: pinned ones first, then the newest.",
  effects: READS,
  audit: "memory_read",
  reply: z.object({
    facts: z.array(factSchema).describe("Pinned ones first, then the newest first."),
    unreadable: z
      .array(z.string())
      .describe("Keys of facts that exist but cannot be decrypted; run doctor for details."),
    next_cursor: nextCursor,
    ended: endedSchema,
  }),
  rest: {
    method: "get",
    path: "/api/v1/memory/facts",
    answers: "A page of facts.",
    names: { reply: "Facts" },
    isLarge: true,
    whose: { named: "subject" },
  },
  tool: {
    title: "List facts",
    description: "List facts with their values, pinned first, then newest.",
    input: z.object({
      prefix: z.string().nullish().describe("Only keys with this prefix."),
      category: z.string().nullish().describe("Only this category."),
      tag: z.string().nullish().describe("Only with this tag."),
      expiring: z.boolean().nullish().describe("Only what expires within 14 days."),
      limit: z
        .number()
        .nullish()
        .describe(`Most facts: ${limitsText(ANSWER_LIMITS.facts)}.`),
      cursor: z.string().nullish().describe("The last next_cursor."),
    }),
    pages: { items: "facts", text: "value" },
  },
});

export const getFact = operation("getFact", {
  summary: "Get one fact by its exact key.",
  effects: READS,
  reply: factSchema,
  missing: noFact,
  rest: {
    method: "get",
    path: "/api/v1/memory/facts/{key}",
    answers: "The fact.",
    fails: [404],
    names: { reply: "Fact" },
  },
  tool: {
    title: "Read a hit",
    description: "Read a fact or a run's record whole.",
    input: z.object({
      key: z.string().describe("Key, path, docid or citation."),
    }),
    // A record of a run has neither tags nor a fingerprint.
    reply: factSchema.partial({ tags: true, fingerprint: true }).extend({ kind: z.string().optional() }),
    pages: { text: "value" },
  },
});
