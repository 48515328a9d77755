/** Runs Docker and compose through their command lines: reads JSON, and passes no secret as an argument. */
import { join } from "node:path";
import { z } from "zod";
import { defined } from "../engine/defined.ts";
import { HelmdeckError } from "../engine/errors.ts";
import { COMPOSE_FILE, NETWORK, PROJECT, SERVICE } from "./install-names.ts";
import type { ComposeFlavour } from "./installation-facts.ts";
import type { CommandResult, Run, RunOptions } from "./run-command.ts";

/** The used fields of `docker inspect`. */
const CONTAINER = z.object({
  Id: z.string(),
  Name: z.string(),
  State: z.object({
    Running: z.boolean(),
    Status: z.string().optional(),
    Health: z.object({ Status: z.string() }).optional(),
  }),
  /** Restarts since its creation. */
  RestartCount: z.number().optional(),
  Config: z.object({ Image: z.string(), Labels: z.record(z.string(), z.string()).nullable() }),
  HostConfig: z.object({
    NetworkMode: z.string(),
    PortBindings: z
      .record(z.string(), z.array(z.object({ HostIp: z.string(), HostPort: z.string() })).nullable())
      .nullable(),
  }),
  NetworkSettings: z.object({
    Networks: z.record(z.string(), z.object({ IPAddress: z.string() })).nullable(),
  }),
});

export type Container = z.infer<typeof CONTAINER>;

/** Timeout for quick queries; an engine that hangs counts as unavailable. */
const ASK_TIMEOUT_MS = 20_000;
/** Includes downloading the image. */
const UP_TIMEOUT_MS = 3_600_000;

export class Docker {
  readonly #run: Run;
  readonly #root: string;

  /** `root`: the folder of the compose files. */
  constructor(run: Run, root: string) {
    this.#run = run;
    this.#root = root;
  }

  /** The engine's version; undefined without a client, null if the client finds no engine. */
  async engine(): Promise<string | null | undefined> {
    const { exitCode, stdout } = await this.#ask("version", "--format", "{{.Server.Version}}");
    if (exitCode === undefined) return undefined;
    return exitCode === 0 ? stdout.trim() : null;
  }

  async compose(): Promise<ComposeFlavour | undefined> {
    if ((await this.#ask("compose", "version", "--short")).exitCode === 0) return "docker compose";
    const old = await this.#run("docker-compose", ["version", "--short"], { timeoutMs: ASK_TIMEOUT_MS });
    return old.exitCode === 0 ? "docker-compose" : undefined;
  }

  async hasNetwork(): Promise<boolean> {
    return (await this.#ask("network", "inspect", NETWORK)).exitCode === 0;
  }

  async hasImage(image: string): Promise<boolean> {
    return (await this.#ask("image", "inspect", image)).exitCode === 0;
  }

  async createNetwork(): Promise<void> {
    await this.#tell("network", "create", "--label", `com.helmdeck.by=${PROJECT}`, NETWORK);
  }

  /** False if something still uses it. */
  async removeNetwork(): Promise<boolean> {
    return (await this.#ask("network", "rm", NETWORK)).exitCode === 0;
  }

  async container(name: string): Promise<Container | undefined> {
    const { exitCode, stdout } = await this.#ask("container", "inspect", name);
    if (exitCode !== 0) return undefined;
    return z.array(CONTAINER).parse(JSON.parse(stdout))[0];
  }

  /** The last lines of its output. */
  async logTail(name: string): Promise<string> {
    const { stdout, stderr } = await this.#ask("logs", "--tail", "30", name);
    return `${stdout}${stderr}`;
  }

  async runningNames(): Promise<readonly string[]> {
    const { exitCode, stdout } = await this.#ask("ps", "--no-trunc", "--format", "{{.Names}}");
    return exitCode === 0 ? stdout.split("\n").filter((name) => name !== "") : [];
  }

  exec(container: string, command: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
    const { env = {}, ...others } = options;
    // Only names: docker reads the values from its own environment, so they are not arguments.
    const passed = Object.keys(env).flatMap((name) => ["--env", name]);
    return this.#run("docker", ["exec", "-i", ...passed, container, ...command], { ...others, env });
  }

  async connect(container: string): Promise<void> {
    await this.#tell("network", "connect", NETWORK, container);
  }

  async disconnect(container: string): Promise<void> {
    await this.#tell("network", "disconnect", NETWORK, container);
  }

  /** The configuration hash that compose would give the service's container; undefined if unknown. */
  async wantedHash(
    flavour: ComposeFlavour,
    files: readonly string[],
    env: ComposeVariables,
  ): Promise<string | undefined> {
    const { exitCode, stdout } = await this.#compose(flavour, files, ["config", "--hash", SERVICE], env);
    return exitCode === 0 ? stdout.trim().split(/\s+/).at(-1) : undefined;
  }

  async up(flavour: ComposeFlavour, files: readonly string[], env: ComposeVariables): Promise<void> {
    const ran = await this.#compose(flavour, files, ["up", "-d", SERVICE], env, UP_TIMEOUT_MS);
    if (ran.exitCode !== 0) throw failed(`${flavour} up`, ran);
  }

  /** Runs the compose file's one-shot helper to its end. */
  async runInit(flavour: ComposeFlavour, model: string): Promise<void> {
    const command = ["run", "--rm", "--no-deps", `${SERVICE}-init`];
    const ran = await this.#compose(
      flavour,
      [COMPOSE_FILE],
      command,
      { EMBEDDING_MODEL: model },
      UP_TIMEOUT_MS,
    );
    if (ran.exitCode !== 0) throw failed("the sidecar's one-shot helper", ran);
  }

  /** Stops and removes the project's containers, and its volumes on request. */
  async down(
    flavour: ComposeFlavour,
    files: readonly string[],
    options: { readonly volumes: boolean },
  ): Promise<void> {
    const ran = await this.#compose(flavour, files, ["down", ...(options.volumes ? ["--volumes"] : [])], {});
    if (ran.exitCode !== 0) throw failed(`${flavour} down`, ran);
  }

  #compose(
    flavour: ComposeFlavour,
    files: readonly string[],
    command: readonly string[],
    env: ComposeVariables,
    timeoutMs?: number,
  ): Promise<CommandResult> {
    const [program = "", ...first] = flavour.split(" ");
    const named = files.flatMap((file) => ["-f", join(this.#root, file)]);
    const args = [...first, "-p", PROJECT, ...named, ...command];
    return this.#run(program, args, {
      env,
      cwd: this.#root,
      ...defined({ timeoutMs }),
    });
  }

  #ask(...args: readonly string[]): Promise<CommandResult> {
    return this.#run("docker", args, { timeoutMs: ASK_TIMEOUT_MS });
  }

  async #tell(...args: readonly string[]): Promise<void> {
    const ran = await this.#run("docker", args);
    if (ran.exitCode !== 0) throw failed(`docker ${args.slice(0, 2).join(" ")}`, ran);
  }
}

type ComposeVariables = Readonly<Record<string, string>>;

/** Docker's own messages are safe to show: they name images, networks and ports. */
function failed(what: string, { exitCode, stderr }: CommandResult): HelmdeckError {
  const said = stderr.trim().split("\n").slice(-3).join(" ");
  return new HelmdeckError(
    "upstream_failed",
    `${what} failed (${exitCode ?? "not started"}): ${said || "it printed nothing"}`,
  );
}
