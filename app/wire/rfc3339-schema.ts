/** The schema of a time. */
import * as z from "zod";

export function rfc3339Schema(description: string) {
  return z.iso.datetime().meta({ description, examples: ["2026-11-20T12:00:00.000Z"] });
}
