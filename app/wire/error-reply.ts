/** The reply of any failure. */
import type { HelmdeckError } from "../../engine/errors.ts";
import { snakeCased } from "./codec.ts";
import type { ErrorReply } from "./schemas.ts";

/** The envelope of every failure. A message of {@link HelmdeckError} never holds a stored value or a secret. */
export function errorReply({
  code,
  message,
  details,
}: Pick<HelmdeckError, "code" | "message" | "details">): ErrorReply {
  return {
    error: code,
    message,
    ...(Object.keys(details).length > 0 && { details: snakeCased(details) }),
  };
}
