/** What a proof that fails ends with: why, and what to do. */
import { HelmdeckError } from "../../app/index.ts";

export function notProved(message: string): HelmdeckError {
  return new HelmdeckError("upstream_failed", message);
}
