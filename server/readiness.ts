/** Whether memory works now, for /readyz and metrics. */
import { forCallers } from "../app/health/for-callers.ts";
import type { MemoryState } from "../app/memory-state.ts";
import { NO_KEY, READ_ONLY } from "../app/memory-to-serve.ts";
import type { ReadinessReply } from "../app/wire/schemas.ts";
import { HelmdeckError } from "../engine/errors.ts";
import type { ServerContext } from "../packs/server-context.ts";

export interface ReadinessParts {
  readonly memory: Pick<ServerContext["memory"], "status">;
  readonly memoryState: MemoryState;
}

/** Whether the store answers now. Anybody may ask. */
export async function readinessOf({ memory, memoryState }: ReadinessParts): Promise<ReadinessReply> {
  const { error, readOnly } = await memory.status();
  if (error !== undefined) {
    const { message } = forCallers(new HelmdeckError(error.code, error.message));
    return { status: "unavailable", memory: "unavailable", error: error.code, message };
  }
  if (memoryState.state === "ephemeral") {
    return { status: "ready", memory: "ephemeral", message: NO_KEY };
  }
  if (readOnly === true) return { status: "ready", memory: "read_only", message: READ_ONLY };
  return { status: "ready", memory: "ready" };
}
