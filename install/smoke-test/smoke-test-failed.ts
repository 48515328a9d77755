/** The error of a failed smoke test: the reason and the remedy. */
import { HelmdeckError } from "../../engine/errors.ts";

export function smokeTestFailed(message: string): HelmdeckError {
  return new HelmdeckError("upstream_failed", message);
}
