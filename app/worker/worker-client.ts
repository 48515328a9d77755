/**
 * The main thread's side: a `Memory` that runs in a worker thread.
 *
 * The gateway's main thread loads only this file and its imports: no store, no index, no validation.
 */
import { Worker } from "node:worker_threads";
import { type BirpcReturn, createBirpc } from "birpc";
import type { RecallMode } from "../../engine/answer-limits.ts";
import { defined } from "../../engine/defined.ts";
import { asHelmdeckError, HelmdeckError } from "../../engine/errors.ts";
import { pauseAfter, systemClock, within } from "../../engine/timing.ts";
import { type EmbeddingSettings, NO_EMBEDDINGS } from "../embedding/embedding-settings.ts";
import { remedyFor } from "../health/remedies.ts";
import { type DoctorReport, type Memory, type MemoryStatus, memoryFrom, type UseCase } from "../memory.ts";
import { fromWire, type HostFunctions, type WorkerFunctions, type WorkerStart } from "./worker-messages.ts";

export interface WorkerMemoryOptions {
  /** The file that calls `serveMemory`, from the same build. */
  readonly workerUrl: URL;
  readonly databasePath: string;
  readonly keyPath: string;
  /** 64 hexadecimal digits; takes precedence over the environment and the key file. */
  readonly configuredKey?: string;
  /** Only the key's settings are read from it. Default: this process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How often expired entries are deleted; 0: never. Default four minutes. */
  readonly sweepEveryMs?: number;
  /** Default: none; the environment is not read. */
  readonly embeddings?: EmbeddingSettings;
  /** What a search shows when no hit is certain, for queries without a mode. Default `balanced`. */
  readonly recall?: RecallMode;
  /** The life of a fact whose writer names none. Default: 90. */
  readonly lifetimeDays?: number;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

const KEY_SETTINGS = [
  "HELMDECK_MEMORY_KEY",
  "HELMDECK_MEMORY_KEY_FILE",
  "HELMDECK_MEMORY_KEY_COMMAND",
] as const;
const PAUSES = { firstMs: 250, longestMs: 30_000 };
/**
 * A store that does not close within this time is left to the operating system: acknowledged writes are on disk. OpenClaw gives a
 * service 5 s to stop.
 */
const CLOSING_MS = 3_000;

/**
 * Starts nothing before the first call. When the worker dies, its calls fail with `memory_unavailable`; a later call starts a new
 * one, after a pause that grows while it keeps dying. `close` is idempotent and ends the thread.
 */
export function startWorkerMemory(options: WorkerMemoryOptions): Memory {
  const { workerUrl, databasePath, keyPath, clock } = options;
  const place = { databasePath, keySource: keyPath };
  return startWorker({ workerUrl, data: workerStart(options), place, ...defined({ clock }) });
}

export interface WorkerOptions {
  /** The file that serves a memory, from the same build. */
  readonly workerUrl: URL;
  /** Its `workerData`; may hold secrets. */
  readonly data: object;
  /** Functions that the worker may call in this thread. Default: none. */
  readonly host?: HostFunctions;
  /** For a status when the worker does not respond. */
  readonly place: Pick<MemoryStatus, "databasePath" | "keySource">;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

/** Like {@link startWorkerMemory}, for any memory that a worker's file serves. */
export function startWorker(options: WorkerOptions): Memory {
  const link = new WorkerLink(options);
  return {
    ...memoryFrom((name) => link.method(name)),
    status: (subject) => {
      const asked = link.call<MemoryStatus>("status", subject === undefined ? [] : [subject]);
      return asked.catch((error: unknown) => link.failedStatus(error));
    },
    doctor: () => link.call<DoctorReport>("doctor", []).catch(failedReport),
    close: () => link.close(),
  };
}

function workerStart(options: WorkerMemoryOptions): WorkerStart {
  const {
    databasePath,
    keyPath,
    configuredKey,
    env = process.env,
    sweepEveryMs,
    recall,
    lifetimeDays,
  } = options;
  const { embeddings = NO_EMBEDDINGS } = options;
  return {
    ...{ databasePath, keyPath, embeddings },
    ...defined({ configuredKey }),
    env: Object.fromEntries(KEY_SETTINGS.map((name) => [name, env[name]])),
    ...defined({ sweepEveryMs, recall, lifetimeDays }),
  };
}

interface Running {
  readonly worker: Worker;
  readonly rpc: BirpcReturn<WorkerFunctions, Partial<HostFunctions>>;
  hasAnswered: boolean;
}

class WorkerLink {
  readonly #options: WorkerOptions;
  readonly #clock: () => number;
  #running: Running | undefined;
  #pending = 0;
  #deaths = 0;
  #restartAt = 0;
  #closing: Promise<void> | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock.now;
  }

  /** A use case with the name and type of `Memory`'s. */
  method<Method extends UseCase>(name: Method): Memory[Method] {
    const call = (...args: readonly unknown[]) => this.call(name, args);
    return call as Memory[Method]; // the worker calls exactly this method of its own Memory
  }

  async call<Answer>(method: UseCase, args: readonly unknown[]): Promise<Answer> {
    if (this.#closing !== undefined) throw unavailable("The memory is closed.");
    const running = this.#ensureRunning();
    return this.#send<Answer>(running, method, args);
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeRunning();
    return this.#closing;
  }

  failedStatus(error: unknown): MemoryStatus {
    const failure =
      error instanceof HelmdeckError ? error : unavailable("The memory worker does not respond.");
    const { code, message } = failure;
    return {
      state: "failed",
      ...this.#options.place,
      driver: "worker",
      mode: "keyword",
      error: { code, message },
    };
  }

  async #send<Answer>(running: Running, method: UseCase, args: readonly unknown[]): Promise<Answer> {
    this.#pending += 1;
    running.worker.ref(); // a pending call keeps the process alive; an idle worker does not
    try {
      const answer = await running.rpc.call(method, [...args]);
      running.hasAnswered = true;
      if (!answer.ok) throw fromWire(answer.error);
      return answer.value as Answer; // the result of Memory's method with this name
    } catch (error) {
      throw asHelmdeckError(error); // for example an argument that cannot be cloned
    } finally {
      this.#pending -= 1;
      if (this.#pending === 0) running.worker.unref();
    }
  }

  #ensureRunning(): Running {
    if (this.#running !== undefined) return this.#running;
    const waitMs = this.#restartAt - this.#clock();
    if (waitMs > 0) {
      throw unavailable(`The memory worker stopped; it will be restarted in ${Math.ceil(waitMs / 1_000)} s.`);
    }
    try {
      this.#running = this.#start();
    } catch (error) {
      throw unavailable(`The memory worker cannot be started${nameOf(error)}.`);
    }
    return this.#running;
  }

  #start(): Running {
    const worker = new Worker(this.#options.workerUrl, {
      name: "helmdeck-memory",
      workerData: this.#options.data,
      argv: [],
      execArgv: [],
    });
    worker.unref();
    const rpc = createBirpc<WorkerFunctions, Partial<HostFunctions>>(this.#options.host ?? {}, {
      post: (message) => worker.postMessage(message),
      on: (listener) => worker.on("message", listener),
      timeout: -1, // callers set their own deadlines
    });
    const running: Running = { worker, rpc, hasAnswered: false };
    let cause: unknown;
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", (exitCode) => {
      if (this.#running === running) this.#running = undefined;
      this.#deaths = running.hasAnswered ? 1 : this.#deaths + 1;
      this.#restartAt = this.#clock() + pauseAfter(this.#deaths, PAUSES);
      running.rpc.$close(unavailable(`The memory worker stopped${nameOf(cause)} (exit code ${exitCode}).`));
    });
    return running;
  }

  async #closeRunning(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    const closed = this.#send(running, "close", []).catch(() => undefined);
    await within(CLOSING_MS, closed, () => undefined);
    await running.worker.terminate();
  }
}

/** When not even the worker can report: see `examineFailure` for its own reports. */
function failedReport(error: unknown): DoctorReport {
  const { code, message } = asHelmdeckError(error);
  const remedy = remedyFor("memory_unavailable");
  return { findings: [{ level: "error", check: "memory", message: `${code}: ${message}`, remedy }] };
}

function unavailable(message: string): HelmdeckError {
  return new HelmdeckError("memory_unavailable", message);
}

/** Not its message, which may hold anything. */
function nameOf(cause: unknown): string {
  if (!(cause instanceof Error)) return "";
  return ` with ${"code" in cause ? String(cause.code) : cause.name}`;
}
