/** The worker's side: opens memory on the first call and answers the main thread's calls. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { type BirpcReturn, createBirpc } from "birpc";
import { asHelmdeckError, HelmdeckError, type SqliteDriver, systemClock } from "../../engine/index.ts";
import type { OpenMemory } from "../compose.ts";
import { type Memory, USE_CASES, type UseCase } from "../memory.ts";
import { examineMemory, openMemory } from "../open-memory.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";
import { failedStatus } from "../overview.ts";
import {
  type HostFunctions,
  toWire,
  type WireAnswer,
  type WorkerFunctions,
  type WorkerStart,
} from "./worker-messages.ts";

export interface ServeMemoryOptions {
  readonly driver: SqliteDriver;
  /** Default: the port to the parent thread. */
  readonly port?: MessagePort;
  /** Default: the `workerData`. */
  readonly start?: WorkerStart;
}

/** Until then, every caller gets the error of opening; afterwards the next call retries, so that a repair takes effect. */
const RETRY_OPENING_AFTER_MS = 2_000;

/** Serves memory on a port, for a worker's entry file. Opens nothing before the first call. */
export function serveMemory(options: ServeMemoryOptions): void {
  const port = options.port ?? requirePort();
  // Written by the main thread of the same build: see WorkerStart.
  const start = options.start ?? (workerData as WorkerStart);
  const served = new ServedMemory({ ...start, driver: options.driver });
  answerOn(port, (method, args) => served.answer(method, args));
}

/** Answers the main thread's calls, and gives access to its functions. */
export function answerOn(
  port: MessagePort,
  answer: WorkerFunctions["call"],
): BirpcReturn<HostFunctions, WorkerFunctions> {
  return createBirpc<HostFunctions, WorkerFunctions>(
    { call: answer },
    {
      post: (message) => port.postMessage(message),
      on: (listener) => port.on("message", listener),
      timeout: -1,
    },
  );
}

/** A memory that opens on demand, and again after a failure. */
export class ServedMemory {
  readonly #options: OpenMemoryOptions;
  readonly #clock: () => number;
  #opening: { readonly memory: Promise<OpenMemory>; failedAt?: number } | undefined;
  #closed = false;

  /** @param clock monotonic milliseconds */
  constructor(options: OpenMemoryOptions, clock: () => number = systemClock.now) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Never rejects: a failure is an answer. */
  answer(method: UseCase, args: readonly unknown[]): Promise<WireAnswer> {
    return answerOf(method, () => this.#call(method, args));
  }

  async #call(method: UseCase, args: readonly unknown[]): Promise<unknown> {
    if (method === "close") return this.#close();
    if (this.#closed) throw new HelmdeckError("memory_unavailable", "The memory is closed.");
    const opened = await this.#open().then(
      (memory) => ({ memory }),
      (error: unknown) => ({ error }),
    );
    if ("memory" in opened) return callOn(opened.memory, method, args);
    return this.#withoutMemory(method, opened.error);
  }

  /** Status and doctor can report on a memory that does not open; everything else fails with the cause. */
  #withoutMemory(method: UseCase, error: unknown): unknown {
    const { databasePath, keyPath, driver } = this.#options;
    if (method === "status")
      return failedStatus({ databasePath, keySource: keyPath, driver: driver.name }, error);
    if (method === "doctor") return examineMemory(this.#options);
    throw error;
  }

  #open(): Promise<OpenMemory> {
    const { failedAt } = this.#opening ?? {};
    const isStale = failedAt !== undefined && this.#clock() - failedAt >= RETRY_OPENING_AFTER_MS;
    if (this.#opening !== undefined && !isStale) return this.#opening.memory;
    const opening: { memory: Promise<OpenMemory>; failedAt?: number } = { memory: openMemory(this.#options) };
    opening.memory.catch(() => {
      opening.failedAt = this.#clock();
    });
    this.#opening = opening;
    return opening.memory;
  }

  async #close(): Promise<void> {
    this.#closed = true;
    const memory = await this.#opening?.memory.catch(() => undefined);
    await memory?.close();
  }
}

/** Never rejects: a failure is an answer. */
export async function answerOf(method: UseCase, call: () => unknown): Promise<WireAnswer> {
  try {
    if (!USE_CASES.includes(method)) throw new HelmdeckError("internal", "There is no such use case.");
    return { ok: true, value: await call() };
  } catch (error) {
    return { ok: false, error: toWire(asHelmdeckError(error)) };
  }
}

/** Calls a use case of an open memory. */
export function callOn(memory: Memory, method: UseCase, args: readonly unknown[]): unknown {
  // The arguments are those of the main thread's `Memory`; each use case validates its input.
  const useCase = memory[method] as (...given: readonly unknown[]) => Promise<unknown>;
  return useCase(...args);
}

export function requirePort(): MessagePort {
  if (parentPort !== null) return parentPort;
  throw new HelmdeckError("internal", "The memory worker's file was not started as a worker.");
}
