/** A real OpenClaw gateway in a temporary home, for tests and the demo. It leaves nothing behind. */
import type { ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { OpenClawClient } from "./client.ts";
import { freePort, type HomeOptions, makeHome, type OpenClawHome } from "./home.ts";
import { ProcessGroups } from "./process-groups.ts";
import { LOCKED_OPENCLAW } from "./runtime.ts";

export { type CommandResult, OpenClawClient, type ToolCall, type ToolReply } from "./client.ts";
export type { Json, JsonObject, OpenClawHome } from "./home.ts";
export { homeMark, processesWith } from "./process-groups.ts";

/** A step with its duration; without `ms` it has just begun. */
export interface Step {
  readonly name: string;
  readonly ms?: number;
}

export interface OpenClawOptions extends HomeOptions {
  /** Plugin tarballs, installed before the gateway starts. */
  readonly plugins?: readonly string[];
  readonly onStep?: (step: Step) => void;
}

const READY_WITHIN_MS = 120_000;
const LOOK_AGAIN_MS = 50;
/**
 * Nothing listens on loopback's discard port, so outgoing requests of the gateway fail and stay on this machine. With this setting,
 * OpenClaw 2026.9.6 ends on SIGTERM without stopping its plugins.
 */
const DISCARD = "http://127.0.0.1:9";
const DEAD_PROXY = { OPENCLAW_PROXY_URL: DISCARD };
/** Older hosts use OpenClaw's own proxy setting even for a model on loopback. */
const OLDER_DEAD_PROXY = { HTTP_PROXY: DISCARD, HTTPS_PROXY: DISCARD, NO_PROXY: "127.0.0.1,localhost" };

/** Installs the plugins, starts the gateway and waits until it is ready. Cleans up on any failure. */
export async function startOpenClaw(options: OpenClawOptions = {}): Promise<OpenClawHost> {
  const host = await OpenClawHost.make(options);
  try {
    for (const tarball of options.plugins ?? []) await host.installPlugin(tarball);
    await host.startGateway();
    return host;
  } catch (error) {
    await host.stop();
    throw error;
  }
}

export class OpenClawHost extends OpenClawClient {
  /** Finished steps with their durations. */
  readonly steps: Step[] = [];
  readonly #groups: ProcessGroups;
  readonly #onStep: (step: Step) => void;
  #gateway: ChildProcess | undefined;
  /** The current step, settled or not. */
  #current: Promise<unknown> = Promise.resolve();
  #stopping: Promise<void> | undefined;

  private constructor(home: OpenClawHome, groups: ProcessGroups, onStep: (step: Step) => void) {
    super(home, groups);
    this.#groups = groups;
    this.#onStep = onStep;
  }

  /** Creates the home without starting anything. Always call `stop`. */
  static async make(options: OpenClawOptions = {}): Promise<OpenClawHost> {
    stopOnSignals();
    const port = await freePort();
    const home = makeHome(port, options);
    const host = new OpenClawHost(home, new ProcessGroups(home.root), options.onStep ?? (() => {}));
    running.add(host);
    return host;
  }

  /** Process id of the running gateway. */
  get pid(): number {
    const pid = this.#gateway?.pid;
    if (pid === undefined) throw new Error("the gateway is not running");
    return pid;
  }

  /** Installs a plugin like a user would without ClawHub. */
  async installPlugin(tarball: string): Promise<void> {
    await this.step("install the plugin", async () => {
      const source = `npm-pack:${resolve(tarball)}`;
      const result = await this.openclaw(["plugins", "install", source, "--force", "--accept-capabilities"]);
      if (result.code === 0) return;
      throw new Error(
        `openclaw plugins install ended with ${result.code}:\n${result.stdout}${result.stderr}`,
      );
    });
  }

  async startGateway(): Promise<void> {
    await this.step("start the gateway", async () => {
      const log = openSync(this.home.logPath, "a");
      const { env, workspace, runtime } = this.home;
      const gateway = this.#groups.spawn(runtime.node, [runtime.entry, "gateway", "run"], {
        env: { ...env, ...(runtime.version === LOCKED_OPENCLAW.version ? DEAD_PROXY : OLDER_DEAD_PROXY) },
        cwd: workspace,
        stdio: ["ignore", log, log],
      });
      closeSync(log);
      this.#gateway = gateway;
      await this.#untilReady(gateway);
    });
  }

  async stopGateway(): Promise<void> {
    const { pid } = this;
    this.#gateway = undefined;
    await this.#groups.end(pid);
  }

  /** Measures and reports a step. */
  async step<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.#onStep({ name });
    const began = performance.now();
    const working = work();
    this.#current = working;
    const result = await working;
    const done = { name, ms: Math.round(performance.now() - began) };
    this.steps.push(done);
    this.#onStep(done);
    return result;
  }

  /** True after `stop` was called or a signal arrived. */
  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** Ends every process and deletes the folder. Can be called at any time, and repeatedly. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** Hands the gateway and its folder over to a person, without any clean-up. */
  async handOver(): Promise<void> {
    running.delete(this);
    this.#gateway?.unref();
    await this.#groups.release();
  }

  async #stop(): Promise<void> {
    this.#gateway = undefined;
    await this.#groups.endAll();
    // A step fails when its process ends; a step without a process, such as a build, may finish.
    await this.#current.catch(() => undefined);
    await rm(this.home.root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    await this.#groups.release();
    running.delete(this);
  }

  async #untilReady(gateway: ChildProcess): Promise<void> {
    const deadline = Date.now() + READY_WITHIN_MS;
    while (!(await this.#isReady())) {
      const ended = gateway.exitCode ?? gateway.signalCode;
      const late = Date.now() > deadline ? `was not ready within ${READY_WITHIN_MS / 1000} s` : undefined;
      const reason = ended === null ? late : `ended with ${ended} while starting`;
      if (reason !== undefined) {
        throw new Error(`The OpenClaw gateway ${reason}. The end of its log:\n${await this.logTail()}`);
      }
      await pause(LOOK_AGAIN_MS);
    }
  }

  async #isReady(): Promise<boolean> {
    try {
      const response = await this.fetch("/readyz");
      await response.arrayBuffer();
      return response.ok;
    } catch {
      return false; // not listening yet
    }
  }
}

const running = new Set<OpenClawHost>();
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function stopOnSignals(): void {
  for (const name of SIGNALS) if (!process.listeners(name).includes(onSignal)) process.on(name, onSignal);
}

let isCleaningUp = false;

/**
 * The first signal cleans up and then has its usual effect. Further signals are ignored: with npm in between, a terminal's
 * Ctrl-C arrives twice.
 */
function onSignal(name: NodeJS.Signals): void {
  if (isCleaningUp) return;
  isCleaningUp = true;
  Promise.allSettled([...running].map((host) => host.stop())).then(() => {
    for (const other of SIGNALS) process.off(other, onSignal);
    process.kill(process.pid, name);
  });
}
