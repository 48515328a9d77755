/** Exports a memory, page by page. */
import * as z from "zod";
import { ORIGINS } from "../../engine/store/memory-store.ts";
import { nextCursor } from "../wire/fields.ts";
import { operation, READS } from "./operation.ts";

export const exportMemory = operation("exportPage", {
  summary: "Export facts and records of runs, as an import takes them.",
  effects: READS,
  audit: "memory_exported",
  reply: z.object({
    lines: z
      .array(z.string())
      .describe(
        "JSON, one a line of a file for import. What is written meanwhile may come twice; the later one counts.",
      ),
    problems: z
      .array(
        z.object({
          origin: z.enum(ORIGINS),
          key: z.string(),
          code: z.enum(["entry_unreadable", "invalid_input"]),
          reason: z.string(),
        }),
      )
      .describe("What could not be exported."),
    next_cursor: nextCursor,
  }),
  isServed: false,
  rest: {
    method: "get",
    path: "/api/v1/memory/export",
    id: "exportMemory",
    answers: "A page of lines.",
    fails: [409],
    names: { reply: "Export" },
    isLarge: true,
    whose: { named: "subject" },
  },
});
