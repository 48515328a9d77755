/** Replies about memory's content, for REST and MCP: facts, my-memory, defaults, callers. */
import * as z from "zod";
import { ANSWER_LIMITS, limitsText } from "../../engine/index.ts";
import type { MyDefaults } from "../memory.ts";
import { rfc3339Schema } from "./rfc3339-schema.ts";

export const LIST_DESCRIPTION =
  "List facts with their values, newest first, page by page: all of them, or those with a prefix or category.";

export const GET_DESCRIPTION = "Read one fact completely, by its key or the path of a hit.";

export const getRequestSchema = z.strictObject({
  key: z.string().meta({ minLength: 1, description: "The fact's key, path, docid or citation." }),
});

/** For a JSON client; REST reads the same fields from the query string. */
export const factsRequestSchema = z.strictObject({
  prefix: z.string().nullish().meta({ description: "Only keys with this prefix; case matters." }),
  category: z.string().nullish().meta({ description: "Only this category." }),
  tag: z.string().nullish().meta({ description: "Only with exactly this tag." }),
  expiring: z.boolean().nullish().meta({ description: "Only what expires within 14 days." }),
  limit: z
    .number()
    .nullish()
    .meta({ description: `Most facts: ${limitsText(ANSWER_LIMITS.facts)}.` }),
  cursor: z.string().nullish().meta({ description: "next_cursor of the previous page." }),
});

export const writerSchema = z.object({
  surface: z.string().meta({ description: "The surface: openclaw, rest, pack (usually over MCP), cli." }),
  agent: z.string().optional().meta({ description: "The agent or caller." }),
  session_kind: z.string().optional().meta({ description: "Such as direct, group, subagent or cron." }),
});

export const factSchema = z.object({
  key: z.string(),
  value: z.string(),
  category: z.string(),
  tags: z.array(z.string()),
  created_at: rfc3339Schema("When this key was first stored."),
  updated_at: rfc3339Schema("When its value was last stored."),
  expires_at: rfc3339Schema("From then on it is hidden; it is deleted later.").optional(),
  fingerprint: z.string().meta({ description: "The first 16 hex digits of the value's SHA-256." }),
  path: z.string().meta({ description: "Its path in the corpus." }),
  writer: writerSchema.optional().meta({
    description: "Who stored the value, as vouched for by the host; absent when unknown.",
  }),
});

export const factsReplySchema = z.object({
  facts: z.array(factSchema).meta({ description: "Newest first." }),
  unreadable: z
    .array(z.string())
    .meta({ description: "Keys of facts that exist but cannot be decrypted; run doctor for details." }),
  next_cursor: z.string().optional().meta({ description: "There is more; ask again with this cursor." }),
});

export const myMemoryReplySchema = z.object({
  scope: z.string().meta({ description: "The owner of the memory: caller=<subject>." }),
  fetched_at: rfc3339Schema("The time of this summary."),
  categories: z.array(
    z.object({
      name: z.string(),
      count: z.int().min(0),
      recent_keys: z.array(z.string()).meta({ description: "The five newest." }),
    }),
  ),
  expiring: z
    .object({
      count: z.int().min(1),
      soonest: z
        .array(
          z.object({
            key: z.string(),
            category: z.string(),
            expires_at: rfc3339Schema("From then on it is hidden."),
          }),
        )
        .meta({ description: "The next ten to expire." }),
    })
    .optional()
    .meta({
      description:
        "Facts that expire within 14 days; renew those that are still true. Left out when there are none.",
    }),
  note: z.string().optional(),
});

const commonInputs = z
  .record(z.string(), z.string())
  .optional()
  .meta({ description: "The most frequent input for each field: a good default for the next run." });

const lastUsed = z.int().meta({ description: "Seconds since 1970." });

export const defaultsReplySchema = z.object({
  scope: z.string().meta({ description: "The owner of these habits: caller=<subject>." }),
  fetched_at: rfc3339Schema("The time of this summary."),
  packs: z.array(
    z.object({
      id: z.string(),
      calls: z.int().min(0),
      last_used_unix: lastUsed,
      common_inputs: commonInputs,
    }),
  ),
  pipelines: z.array(
    z.object({
      id: z.string(),
      runs: z.int().min(0),
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
        occurrence_count: z.int().min(0),
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
    .meta({ description: "Newest first, at most 200." }),
  note: z.string().optional(),
});

export const callersReplySchema = z.object({
  callers: z.array(
    z.object({
      namespace: z.string().meta({ description: "The caller's name in its token." }),
      count: z.int().min(0).meta({ description: "Entries of every kind." }),
    }),
  ),
});

export type GetRequest = z.infer<typeof getRequestSchema>;
export type FactsRequest = z.infer<typeof factsRequestSchema>;
export type FactReply = z.infer<typeof factSchema>;
export type FactsReply = z.infer<typeof factsReplySchema>;
export type MyMemoryReply = z.infer<typeof myMemoryReplySchema>;
export type CallersReply = z.infer<typeof callersReplySchema>;
/** The use case returns the wire's own shape. */
export type DefaultsReply = MyDefaults;
