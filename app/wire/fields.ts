/** Schemas of fields that several requests and replies have. */
import * as z from "zod";

export const wholeNumber = z.int().min(0);

export const nextCursor = z.string().optional().describe("There is more; ask again with this cursor.");

/** How much was searched. */
export const storedCounts = z.object({ facts: wholeNumber, audit_rows: wholeNumber });

export function rfc3339Schema(description: string) {
  return z.iso.datetime().meta({ description, examples: ["2026-11-20T12:00:00.000Z"] });
}
