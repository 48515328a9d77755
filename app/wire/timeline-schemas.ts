/** What clients receive when they look back: what packs, pipelines and tools did, and how memory grew; described for REST. */
import * as z from "zod";
import { writerSchema } from "./view-schemas.ts";

const runSchema = z.object({
  key: z.string(),
  kind: z.enum(["pack", "pipeline", "tool"]),
  name: z.string().meta({ description: "Of the pack, pipeline or tool." }),
  outcome: z.string().meta({ description: "ok, succeeded, failed, cancelled or an error code." }),
  is_ok: z.boolean().meta({ description: "It went well." }),
  at_unix: z.number().meta({ description: "When, in seconds since 1970." }),
  duration_ms: z.number().optional(),
  inputs: z.record(z.string(), z.string()).meta({ description: "Those that were kept, by name." }),
  findings: z.int().min(0).meta({ description: "How many a pack had." }),
  path: z.string().meta({ description: "Where the corpus shows it." }),
  writer: writerSchema.optional().meta({ description: "Who recorded it." }),
});

export const runsReplySchema = z.object({
  runs: z.array(runSchema).meta({
    description: "Newest first; may be fewer than the limit, and next_cursor says that there is more.",
  }),
  unreadable: z.int().min(0).meta({ description: "Records that are there but do not open." }),
  next_cursor: z.string().optional().meta({ description: "There is more; ask again with this cursor." }),
});

export const growthReplySchema = z.object({
  days: z
    .array(z.object({ day: z.string(), facts: z.int().min(0), runs: z.int().min(0) }))
    .meta({ description: "Days (UTC) on which something came that is still there, oldest first." }),
  bytes: z.int().min(0).meta({ description: "Of all values, former ones and caches with them, as stored." }),
});

export type RunsReply = z.infer<typeof runsReplySchema>;
export type GrowthReply = z.infer<typeof growthReplySchema>;
