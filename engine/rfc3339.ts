/** Times outside of this program: RFC 3339 in UTC, as helmdeck writes them. */
import type { UnixMs } from "./store/memory-store.ts";

export function rfc3339(unixMs: UnixMs): string {
  return new Date(unixMs).toISOString();
}
