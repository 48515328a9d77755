/**
 * A running helmdeck's memory in a worker thread: reading and ranking stay off the gateway's main thread, which resolves the
 * tokens.
 */
import { workerData } from "node:worker_threads";
import type { RecallMode } from "../../engine/answer-limits.ts";
import type { Subject } from "../../engine/store/namespace.ts";
import type { EngineAddress } from "../remote/engine/engine-address.ts";
import { openHelmdeckMemory } from "../remote/helmdeck/helmdeck-memory.ts";
import { fromWire, type HostFunctions } from "./worker-messages.ts";
import { answerOn, onFirstCall } from "./worker-server.ts";

/** The worker's start data. */
export interface HelmdeckStart {
  readonly address: EngineAddress;
  readonly agents: readonly Subject[];
  readonly recall: RecallMode;
}

/** Serves a helmdeck's memory to the parent thread, for a worker's entry file. Sends nothing before the first call. */
export function serveHelmdeckMemory(): void {
  const open = () =>
    openHelmdeckMemory({
      ...(workerData as HelmdeckStart), // written by the main thread of the same build
      tokenOf: async (agent, how) => {
        const answer = await host.tokenOf(agent, how);
        if (!answer.ok) throw fromWire(answer.error);
        return String(answer.value);
      },
    });
  const host: Pick<HostFunctions, "tokenOf"> = answerOn(onFirstCall(open));
}
