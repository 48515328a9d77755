/** Lists runs of packs, pipelines and tools. */
import * as z from "zod";
import { runsReply } from "../wire/replies.ts";
import { writerSchema } from "./facts.ts";
import { operation, READS } from "./operation.ts";

export const listRuns = operation("listRuns", {
  summary: "The caller's runs of packs, pipelines and tools, newest first.",
  effects: READS,
  reply: z.object({
    runs: z
      .array(
        z.object({
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
        }),
      )
      .meta({
        description: "Newest first; may be fewer than the limit, in which case next_cursor continues.",
      }),
    unreadable: z.int().min(0).meta({ description: "Records that exist but cannot be decrypted." }),
    next_cursor: z.string().optional().meta({ description: "There is more; ask again with this cursor." }),
  }),
  toReply: runsReply,
  fromReply: ({ runs, ...page }) => ({
    ...page,
    runs: runs.map(({ atUnix, ...run }) => ({ ...run, at: atUnix * 1_000 })),
  }),
  rest: {
    method: "get",
    path: "/api/v1/memory/runs",
    answers: "A page of runs.",
    names: { reply: "Runs" },
    isLarge: true,
  },
});
