/** Times on the wire: RFC 3339 in UTC, as helmdeck writes them. */
import * as z from "zod";
import type { UnixMs } from "../../engine/index.ts";

export function rfc3339(unixMs: UnixMs): string {
  return new Date(unixMs).toISOString();
}

export function rfc3339Schema(description: string) {
  return z.iso.datetime().meta({ description, examples: ["2026-11-20T12:00:00.000Z"] });
}
