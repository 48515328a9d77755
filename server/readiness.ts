/** Whether memory works now, for /readyz and metrics. */
import type { MemoryState } from "../app/memory-state.ts";
import { READ_ONLY } from "../app/memory-to-serve.ts";
import type { ReadinessReply } from "../app/wire/schemas.ts";
import type { ServerContext } from "../packs/server-context.ts";

export interface ReadinessParts {
  readonly memory: Pick<ServerContext["memory"], "status">;
  readonly memoryState: MemoryState;
}

/** Whether the store answers now. */
export async function readinessOf({ memory, memoryState }: ReadinessParts): Promise<ReadinessReply> {
  const { error, readOnly } = await memory.status();
  if (error !== undefined) {
    return { status: "unavailable", memory: "unavailable", error: error.code, message: error.message };
  }
  if (memoryState.state === "ephemeral") {
    return { status: "ready", memory: "ephemeral", message: memoryState.warning };
  }
  if (readOnly === true) return { status: "ready", memory: "read_only", message: READ_ONLY };
  return { status: "ready", memory: "ready" };
}
