/** Replies about the past: runs of packs, pipelines and tools, and a memory's growth; schemas for REST. */
import * as z from "zod";
import { writerSchema } from "./view-schemas.ts";

const runSchema = z.object({
  key: z.string(),
  kind: z.enum(["pack", "pipeline", "tool"]),
  name: z.string().meta({ description: "The name of the pack, pipeline or tool." }),
  outcome: z.string().meta({ description: "ok, succeeded, failed, cancelled or an error code." }),
  is_ok: z.boolean().meta({ description: "Whether it succeeded." }),
  at_unix: z.number().meta({ description: "When, in seconds since 1970." }),
  duration_ms: z.number().optional(),
  inputs: z.record(z.string(), z.string()).meta({ description: "The recorded inputs, by name." }),
  findings: z.int().min(0).meta({ description: "The number of findings of a pack." }),
  path: z.string().meta({ description: "Its path in the corpus." }),
  writer: writerSchema.optional().meta({ description: "Who recorded it." }),
});

export const runsReplySchema = z.object({
  runs: z.array(runSchema).meta({
    description: "Newest first; may be fewer than the limit, in which case next_cursor continues.",
  }),
  unreadable: z.int().min(0).meta({ description: "Records that exist but cannot be decrypted." }),
  next_cursor: z.string().optional().meta({ description: "There is more; ask again with this cursor." }),
});

export const growthReplySchema = z.object({
  days: z
    .array(z.object({ day: z.string(), facts: z.int().min(0), runs: z.int().min(0) }))
    .meta({ description: "Days (UTC) on which something was stored that still exists, oldest first." }),
  bytes: z.int().min(0).meta({ description: "Size of all stored values, including former ones and caches." }),
});

export type RunsReply = z.infer<typeof runsReplySchema>;
export type GrowthReply = z.infer<typeof growthReplySchema>;
