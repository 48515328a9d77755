/** The main thread's side of a running helmdeck's memory: resolves tokens for the worker. */
import { asHelmdeckError } from "../../engine/errors.ts";
import type { Memory } from "../memory.ts";
import type { TokenSource } from "../remote/engine/engine-client.ts";
import type { HelmdeckStart } from "./helmdeck-worker.ts";
import { startWorker } from "./worker-client.ts";
import { toWire } from "./worker-messages.ts";

export interface HelmdeckWorkerOptions {
  /** The file that calls `serveHelmdeckMemory`, from the same build. */
  readonly workerUrl: URL;
  readonly start: HelmdeckStart;
  readonly tokenOf: TokenSource;
}

/** Starts nothing before the first call. */
export function startHelmdeckWorker({ workerUrl, start, tokenOf }: HelmdeckWorkerOptions): Memory {
  return startWorker({
    ...{ workerUrl, data: start, place: { databasePath: "at helmdeck", keySource: "at helmdeck" } },
    host: {
      tokenOf: (agent, how) =>
        tokenOf(agent, how).then(
          (value) => ({ ok: true, value }),
          (error: unknown) => ({ ok: false, error: toWire(asHelmdeckError(error)) }),
        ),
    },
  });
}
