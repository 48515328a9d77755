/** The worker's side: opens memory on the first call and answers the main thread's calls. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { type BirpcReturn, createBirpc } from "birpc";
import { asHelmdeckError, HelmdeckError } from "../../engine/errors.ts";
import type { SqliteDriver } from "../../engine/store/sqlite/sqlite-driver.ts";
import type { OpenMemory } from "../compose.ts";
import { type DoctorReport, type Memory, USE_CASES, type UseCase } from "../memory.ts";
import { examineMemory, openMemory } from "../open-memory.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";
import {
  type HostFunctions,
  toWire,
  type WireAnswer,
  type WorkerFunctions,
  type WorkerStart,
} from "./worker-messages.ts";

/** Serves memory to the parent thread, for a worker's entry file. Opens nothing before the first call. */
export function serveMemory(driver: SqliteDriver): void {
  const start = workerData as WorkerStart; // written by the main thread of the same build
  answerOn(openingMemory({ ...start, driver }));
}

/** Answers the main thread's calls, and gives access to its functions. */
export function answerOn(answer: WorkerFunctions["call"]): BirpcReturn<HostFunctions, WorkerFunctions> {
  const port = requirePort();
  return createBirpc<HostFunctions, WorkerFunctions>(
    { call: answer },
    {
      post: (message) => port.postMessage(message),
      on: (listener) => port.on("message", listener),
      timeout: -1,
    },
  );
}

/** Until it opens, each call fails with the reason. */
export function openingMemory(options: OpenMemoryOptions): WorkerFunctions["call"] {
  return onFirstCall(
    () => openMemory({ ...options, waiting: {} }),
    (memory, method, args) => (method === "doctor" ? examine(memory, options) : callOn(memory, method, args)),
  );
}

/** Opens memory with the first call. Never rejects: a failure is an answer. */
export function onFirstCall<Opened extends Memory>(
  open: () => Promise<Opened>,
  call: (memory: Opened, method: UseCase, args: readonly unknown[]) => unknown = callOn,
): WorkerFunctions["call"] {
  let opening: Promise<Opened> | undefined;
  return (method, args) =>
    answerOf(method, async () => {
      if (method === "close") return (await opening)?.close();
      opening ??= open();
      return call(await opening, method, args);
    });
}

/** A memory that has not opened yet has nothing to examine but its place. */
async function examine(memory: OpenMemory, options: OpenMemoryOptions): Promise<DoctorReport> {
  await memory.status(); // opens it if that works now
  return memory.store.identity === undefined ? examineMemory(options) : memory.doctor();
}

/** Never rejects: a failure is an answer. */
async function answerOf(method: UseCase, call: () => unknown): Promise<WireAnswer> {
  try {
    if (!USE_CASES.includes(method)) throw new HelmdeckError("internal", "There is no such use case.");
    return { ok: true, value: await call() };
  } catch (error) {
    return { ok: false, error: toWire(asHelmdeckError(error)) };
  }
}

/** Calls a use case of an open memory. */
function callOn(memory: Memory, method: UseCase, args: readonly unknown[]): unknown {
  // The arguments are those of the main thread's `Memory`; each use case validates its input.
  const useCase = memory[method] as (...given: readonly unknown[]) => Promise<unknown>;
  return useCase(...args);
}

function requirePort(): MessagePort {
  if (parentPort !== null) return parentPort;
  throw new HelmdeckError("internal", "The memory worker's file was not started as a worker.");
}
