/**
 * Runs the built-in model in a process of its own: started when a text has to be embedded, ended when nobody asked for half an
 * hour, replaced when it hangs.
 *
 * Why a process: only its end gives the runtime's memory back, it cannot take a gateway down with it, and the system's allocator
 * can be told to keep little (docs/decisions/0063-the-built-in-model-is-a-process.md).
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type BirpcReturn, createBirpc } from "birpc";
import { HelmdeckError } from "../engine/errors.ts";
import { fileOfBuild } from "../engine/file-of-build.ts";
import { type Backoff, backgroundTimer, type Clock, pauseAfter } from "../engine/timing.ts";
import { type FoundModel, MODEL_FILES, type ModelKind, MULTILINGUAL_FILES } from "./artefact.ts";
import type { ModelAnswer, ModelFunctions } from "./model-messages.ts";

/** The start of a sentence about it. */
export const WHO = "The built-in model";

/** Its vectors are comparable with those of the same weights and word pieces, whatever runtime computes them. */
export const MODEL_NAME = `all-minilm-l6-v2-int8:${MODEL_FILES[0].sha256.slice(0, 4)}${MODEL_FILES[1].sha256.slice(0, 4)}`;

export const MULTILINGUAL_NAME = `use-multilingual-3-int4:${MULTILINGUAL_FILES.map(({ sha256 }) => sha256.slice(0, 4)).join("")}`;

export interface ModelOptions {
  /** Asked before each start, so that a model that was installed meanwhile is found. */
  readonly find: () => Promise<FoundModel>;
  /** Where the model of many languages is, or would be. Without it there is none. */
  readonly findMultilingual?: () => Promise<FoundModel>;
  readonly clock?: Clock;
  /** More options of its Node, for tests. */
  readonly nodeOptions?: readonly string[];
  /** Its program. Default: of the same build. */
  readonly program?: string;
}

const IDLE_MS = 30 * 60_000;
/**
 * How long it may answer nothing, twice in a row: what is slow may be this process, which then reads an answer between the two.
 * A busy machine takes seconds for a long text, and half a minute to load the model.
 */
const SILENT_MS = { loading: 60_000, loaded: 5_000 };
/** From the second replacement on, until one lasted for the longest pause: where every process hangs, starting another one is no help. */
const PAUSES: Backoff = { firstMs: 30_000, longestMs: 10 * 60_000 };
/**
 * glibc would keep the memory of the runtime's compiler, once for each of its threads: 300 MB instead of 180. Other systems
 * ignore these.
 */
const SMALL_HEAP = {
  MALLOC_ARENA_MAX: "1",
  MALLOC_TRIM_THRESHOLD_: "131072",
  MALLOC_MMAP_THRESHOLD_: "32768",
  MALLOC_MMAP_MAX_: "100000",
};

interface Running {
  readonly child: ChildProcess;
  readonly rpc: BirpcReturn<ModelFunctions, object>;
  /** Calls without an answer. */
  waiting: number;
  isLoaded: boolean;
}

export class BuiltInModel {
  readonly #options: ModelOptions;
  readonly #clock: Clock;
  #starting: Promise<Running> | undefined;
  #running: Running | undefined;
  #pending = 0;
  #cancelIdle = (): void => undefined;
  #cancelWatch = (): void => undefined;
  #replacements = 0;
  #notBefore = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: ModelOptions) {
    this.#options = options;
    this.#clock = options.clock ?? { now: () => performance.now(), timer: backgroundTimer };
  }

  /** The model's process; undefined while none runs. */
  get processId(): number | undefined {
    return this.#running?.child.pid;
  }

  /** Rejects with `model_missing`, `model_changed`, `embeddings_unavailable` or `embeddings_out_of_memory`. */
  async load(kind: ModelKind = "english"): Promise<void> {
    await this.#ask((rpc) => rpc.load(kind));
  }

  /** Like {@link load}; and with `too_large`, with `fits` in its details, when the text has more pieces than the model reads. */
  embed(text: string, kind: ModelKind = "english"): Promise<Float32Array> {
    return this.#ask((rpc) => rpc.embed(kind, text));
  }

  /** Ends the process; calls in progress fail. The next call starts another one, except after `close`. */
  stop(): void {
    this.#cancelIdle();
    this.#cancelWatch();
    const running = this.#running;
    this.#running = this.#starting = undefined; // the next call must not reach the ending one
    running?.child.kill("SIGKILL"); // it has nothing to save
  }

  close(): void {
    this.#isClosed = true;
    this.stop();
  }

  async #ask<Value>(call: (rpc: Running["rpc"]) => Promise<ModelAnswer<Value>>): Promise<Value> {
    this.#cancelIdle();
    this.#pending += 1;
    try {
      const running = await this.#ensureRunning();
      keepAlive(running.child, true);
      running.waiting += 1;
      if (running.waiting === 1) this.#watch(running);
      const answer = await call(running.rpc).finally(() => {
        running.waiting -= 1;
      });
      running.isLoaded = true; // one that cannot be loaded ends
      this.#watch(running);
      if (answer.ok) return answer.value;
      const { code, message, fits, goesOn } = answer;
      if (!goesOn) this.#leave(running);
      throw new HelmdeckError(code, message, { details: fits === undefined ? {} : { fits } });
    } finally {
      this.#pending -= 1;
      if (this.#pending === 0) this.#rest();
    }
  }

  /** Begins anew with each answer, so that a slow process is left alone. */
  #watch(running: Running, isSecond = false): void {
    if (this.#running !== running) return;
    this.#cancelWatch();
    if (running.waiting === 0) return;
    const onSilence = (): void => (isSecond ? this.#replace(running) : this.#watch(running, true));
    this.#cancelWatch = this.#clock.timer(onSilence, SILENT_MS[running.isLoaded ? "loaded" : "loading"]);
  }

  #replace(running: Running): void {
    if (this.#running !== running) return;
    const now = this.#clock.now();
    const lasted = now - this.#notBefore > PAUSES.longestMs;
    this.#replacements = lasted ? 0 : this.#replacements + 1;
    this.#notBefore = now + (lasted ? 0 : pauseAfter(this.#replacements, PAUSES));
    this.stop();
    if (lasted) this.load().catch(() => undefined); // a question may come soon
  }

  /** It ends, or has ended: the next call starts another one. */
  #leave(running: Running): void {
    if (this.#running === running) this.#running = this.#starting = undefined;
  }

  /** An idle process keeps nobody alive, and ends. */
  #rest(): void {
    if (this.#running === undefined) return;
    keepAlive(this.#running.child, false);
    this.#cancelIdle = this.#clock.timer(() => this.stop(), IDLE_MS);
  }

  #ensureRunning(): Promise<Running> {
    if (this.#isClosed) throw new HelmdeckError("cancelled", "The memory is closed.");
    const leftMs = this.#notBefore - this.#clock.now();
    if (leftMs > 0)
      throw new HelmdeckError(
        "embeddings_unavailable",
        `${WHO}'s process answered nothing. It is started again in ${Math.ceil(leftMs / 1_000)} s.`,
      );
    this.#starting ??= this.#start().catch((error) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  async #start(): Promise<Running> {
    const found = await this.#options.find();
    if (!found.ok)
      throw new HelmdeckError(found.why === "changed" ? "model_changed" : "model_missing", found.problem);
    const multilingual = (await this.#options.findMultilingual?.())?.folder;
    if (this.#isClosed) throw new HelmdeckError("cancelled", "The memory is closed.");
    const { program = fileURLToPath(fileOfBuild("model-process", import.meta.url)), nodeOptions = [] } =
      this.#options;
    const child = forkModel(program, [found.folder, multilingual ?? ""], nodeOptions);
    const rpc = createBirpc<ModelFunctions, object>(
      {},
      {
        post: (message) => void child.send(message, () => undefined), // its end is noticed below
        on: (listener) => child.on("message", listener),
        timeout: -1,
      },
    );
    const running = { child, rpc, waiting: 0, isLoaded: false };
    const onEnd = (how: string): void => {
      this.#leave(running);
      rpc.$close(new HelmdeckError("embeddings_unavailable", `${WHO}'s process ended${how}.`));
    };
    child.once("error", () => onEnd(" or cannot be started"));
    child.once("exit", (code, signal) => onEnd(` (${signal ?? `exit code ${code}`})`));
    this.#running = running;
    return running;
  }
}

/** Without the environment: it may hold keys, and options for another Node. */
function forkModel(
  program: string,
  folders: readonly string[],
  nodeOptions: readonly string[],
): ChildProcess {
  try {
    return fork(program, folders, {
      env: SMALL_HEAP,
      execArgv: ["--expose-gc", ...nodeOptions],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      windowsHide: true,
    });
  } catch {
    throw new HelmdeckError("embeddings_unavailable", `${WHO}'s process cannot be started.`);
  }
}

function keepAlive(child: ChildProcess, isWaiting: boolean): void {
  const how = isWaiting ? "ref" : "unref";
  child[how]();
  child.channel?.[how]();
}
