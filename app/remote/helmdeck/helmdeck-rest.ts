/** The used parts of a running helmdeck's REST API. */
import * as z from "zod";

const runSchema = z.object({
  kind: z.enum(["pack", "pipeline"]),
  key: z.string(),
  id: z.string(),
  outcome: z.string(),
  at_unix: z.number(),
  duration_ms: z.number().optional(),
  learn_inputs: z.record(z.string(), z.string()).optional(),
});

/** The newest 200 runs at most, with their times. */
export const DEFAULTS = {
  path: "/api/v1/memory/defaults",
  answers: z.object({ scope: z.string(), recent: z.array(runSchema) }),
  mostBytes: 4 * 1024 * 1024,
} as const;
export const MOST_RUNS = 200;

/** Row counts of each caller, including expired rows and cached answers; other callers' only for an admin's token. */
export const CALLERS = {
  path: "/api/v1/memory/callers",
  answers: z.object({
    /** Null when nobody has a row. */
    callers: z.array(z.object({ namespace: z.string(), count: z.int() })).nullable(),
  }),
} as const;

export const STORED = z.object({
  key: z.string(),
  category: z.string(),
  expires_at: z.iso.datetime({ offset: true }),
});
export const FORGOTTEN = z.object({ deleted: z.int().min(0) });
export const VERSION = { path: "/version", answers: z.object({ version: z.string() }) } as const;
