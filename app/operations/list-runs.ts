/** Lists runs of packs, pipelines and tools. */
import * as z from "zod";
import { nextCursor, wholeNumber } from "../wire/fields.ts";
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
          name: z.string().describe("The name of the pack, pipeline or tool."),
          outcome: z.string().describe("ok, succeeded, failed, cancelled or an error code."),
          is_ok: z.boolean().describe("Whether it succeeded."),
          at_unix: z.number().describe("When, in seconds since 1970."),
          duration_ms: z.number().optional(),
          inputs: z.record(z.string(), z.string()).describe("The recorded inputs, by name."),
          findings: wholeNumber.describe("The number of findings of a pack."),
          path: z.string().describe("Its path in the corpus."),
          writer: writerSchema.optional().describe("Who recorded it."),
        }),
      )
      .describe("Newest first; may be fewer than the limit, in which case next_cursor continues."),
    unreadable: wholeNumber.describe("Records that exist but cannot be decrypted."),
    next_cursor: nextCursor,
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
