/** What a running helmdeck's REST says, described as far as it is used. */
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

/** At most the newest 200 runs, with their times. */
export const DEFAULTS = {
  path: "/api/v1/memory/defaults",
  answers: z.object({ scope: z.string(), recent: z.array(runSchema) }),
  mostBytes: 4 * 1024 * 1024,
} as const;
export const MOST_RUNS = 200;

/** How many rows each caller has, those that have expired and cached answers with them; of others only where the token is an admin's. */
export const CALLERS = {
  path: "/api/v1/memory/callers",
  answers: z.object({
    /** Null where nobody has a row. */
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
