/** Schemas of fields that several requests and replies have. */
import * as z from "zod";

export const wholeNumber = z.int().min(0);

export const nextCursor = z.string().optional().describe("There is more; ask again with this cursor.");

export const endedSchema = z
  .array(z.object({ month: z.string().describe("Of UTC, such as 2026-11."), facts: z.int().min(1) }))
  .optional()
  .describe("How many facts ended by themselves in which month, for a year. Left out when there are none.");

/** How much was searched. */
export const storedCounts = z.object({ facts: wholeNumber, audit_rows: wholeNumber, ended: endedSchema });

export function rfc3339Schema(description: string) {
  return z.iso.datetime().meta({ description, examples: ["2026-11-20T12:00:00.000Z"] });
}
