/** Formats times as RFC 3339 in UTC, like helmdeck. */
import type { UnixMs } from "./store/memory-store.ts";

export function rfc3339(unixMs: UnixMs): string {
  return new Date(unixMs).toISOString();
}
