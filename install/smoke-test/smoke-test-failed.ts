/** What a smoke test that fails ends with: why, and what to do. */
import { HelmdeckError } from "../../app/index.ts";

export function smokeTestFailed(message: string): HelmdeckError {
  return new HelmdeckError("upstream_failed", message);
}
