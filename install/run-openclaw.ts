/**
 * Runs OpenClaw's command line, on this machine or in a container. OpenClaw reads and writes its configuration and finds its
 * gateway's token itself; neither ever appears here as an argument or in an error.
 */

import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HelmdeckError } from "../engine/errors.ts";
import { unlessMissing } from "../engine/private-file.ts";
import type { Environment } from "./environment.ts";
import { INSTALLER } from "./install-names.ts";
import type { Target } from "./installation-facts.ts";
import { at, type Json, type JsonObject, jsonIn, parseJson5 } from "./openclaw-json.ts";
import { type CommandResult, type RunOptions, reasonOf } from "./run-command.ts";

type Machine = Pick<Environment, "run" | "docker" | "homeDir">;

/** Commands that start OpenClaw inside a container, in order of preference; its own image uses /app. */
const IN_CONTAINER = [["openclaw"], ["node", "dist/index.js"], ["node", "openclaw.mjs"]] as const;
/** A plugin's installation runs npm. */
const INSTALL_TIMEOUT_MS = 600_000;
/** On a busy machine a command can take half a minute to start. */
const CALL_TIMEOUT_MS = 180_000;

interface ConfigPart {
  /** With defaults, without secrets; undefined if not set. */
  readonly value: Json | undefined;
  /** A problem, such as an old version's layout; undefined if there is none. */
  readonly complaint: string | undefined;
}

export class OpenClaw {
  readonly target: Target;
  readonly version: string;
  readonly #machine: Machine;
  readonly #command: readonly string[];
  /** Environment for every call, to find our own gateway. */
  readonly #env: Readonly<Record<string, string>>;

  private constructor(
    target: Target,
    version: string,
    machine: Machine,
    command: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ) {
    this.target = target;
    this.version = version;
    this.#machine = machine;
    this.#command = command;
    this.#env = env;
  }

  /** Undefined if it does not run there. */
  static async find(target: Target, machine: Machine): Promise<OpenClaw | undefined> {
    for (const command of target.kind === "host" ? [["openclaw"]] : IN_CONTAINER) {
      const unknown = new OpenClaw(target, "", machine, command);
      const { exitCode, stdout } = await unknown.run(["--version"], { timeoutMs: CALL_TIMEOUT_MS });
      const version = exitCode === 0 ? /\d{4}\.\d+\.\d+[\w.-]*/.exec(stdout)?.[0] : undefined;
      if (version !== undefined) return new OpenClaw(target, version, machine, command);
    }
    return undefined;
  }

  /** How a person restarts the gateway. A gateway that is a container's main process cannot restart itself. */
  get restartCommand(): string {
    return this.target.kind === "host" ? "openclaw gateway restart" : `docker restart ${this.target.name}`;
  }

  /** The same OpenClaw with another gateway than the configured one. */
  withEnv(env: Readonly<Record<string, string>>): OpenClaw {
    return new OpenClaw(this.target, this.version, this.#machine, this.#command, env);
  }

  /** Runs `openclaw <args>`. */
  run(args: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
    return this.exec([...this.#command, ...args], { ...options, env: { ...this.#env, ...options.env } });
  }

  /** Runs any program where OpenClaw runs. */
  exec(command: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
    if (this.target.kind === "container")
      return this.#machine.docker.exec(this.target.name, command, options);
    const [file = "", ...args] = command;
    return this.#machine.run(file, args, options);
  }

  /** Runs a command that must succeed. `what`: the attempted action, for the error message. */
  async must(what: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
    const ran = await this.run(args, options);
    if (ran.exitCode !== 0) throw openclawFailed(what, ran);
    return ran.stdout;
  }

  async configPath(): Promise<string> {
    const said =
      (await this.must("find OpenClaw's configuration", ["config", "file"])).trim().split("\n").at(-1) ?? "";
    if (!said.startsWith("~")) return said;
    if (this.target.kind === "host") return join(this.#machine.homeDir, said.slice(1));
    const { stdout } = await this.exec(["sh", "-c", 'printf %s "$HOME"']);
    return `${stdout}${said.slice(1)}`;
  }

  /** The file's bytes; undefined if there is no file. */
  async readConfigFile(path: string): Promise<Buffer | undefined> {
    if (this.target.kind === "host") return unlessMissing(readFile(path), undefined);
    // In base64, because a program's output is read as text.
    const { exitCode, stdout } = await this.exec(["sh", "-c", 'test -e "$1" && base64 < "$1"', "sh", path]);
    return exitCode === 0 ? Buffer.from(stdout, "base64") : undefined;
  }

  /** Replaces the file atomically and keeps its mode. */
  async writeConfigFile(path: string, bytes: Uint8Array): Promise<void> {
    if (this.target.kind === "container") return this.#writeInContainer(path, bytes);
    const making = `${path}.helmdeck-${process.pid}`;
    const mode = (await stat(path)).mode & 0o777;
    await writeFile(making, bytes, { mode, flag: "wx" });
    await rename(making, path);
  }

  /** The configuration as written, without defaults. Undefined if there is no file. */
  async authoredConfig(path: string): Promise<Json | undefined> {
    const bytes = await this.readConfigFile(path);
    return bytes === undefined ? undefined : parseJson5(bytes.toString("utf8"));
  }

  /** A part of the configuration as OpenClaw reads it, and problems of the whole configuration, with one command. */
  async config(path: string): Promise<ConfigPart> {
    const ran = await this.run(["config", "get", path, "--json"], { timeoutMs: CALL_TIMEOUT_MS });
    const answer = jsonIn(ran.stdout);
    if (ran.exitCode === 0) return { value: answer, complaint: undefined };
    // An unset value is also reported as an error; problems of the file are reported as issues.
    const isUnset = answer !== undefined && at(answer, "issues") === undefined;
    const complaint = isUnset ? undefined : `OpenClaw reports an invalid configuration: ${reasonOf(ran)}`;
    return { value: undefined, complaint };
  }

  /** One validated write, through standard input, because values may be secret. */
  async patchConfig(patch: JsonObject): Promise<void> {
    const input = JSON.stringify(patch);
    await this.must("change OpenClaw's configuration", ["config", "patch", "--stdin"], { input });
  }

  /** The plugin's status in the gateway, asked for as an operator; undefined if there is none. */
  async helmdeckStatus(): Promise<Json | undefined> {
    const call = ["gateway", "call", "helmdeck.status", "--timeout", "20000", "--json"];
    const { exitCode, stdout } = await this.run(call, { timeoutMs: CALL_TIMEOUT_MS });
    return exitCode === 0 ? jsonIn(stdout) : undefined;
  }

  /** The JSON that a command prints, even if it fails; undefined if it prints none. */
  async ask(args: readonly string[]): Promise<Json | undefined> {
    const { stdout } = await this.run(args, { timeoutMs: CALL_TIMEOUT_MS });
    return jsonIn(stdout);
  }

  /** The details of a tool's answer, called through the gateway as an operator. */
  async callTool(name: string, args: JsonObject): Promise<Json | undefined> {
    const params = JSON.stringify({ name, args });
    const call = ["gateway", "call", "tools.invoke", "--params", params, "--timeout", "45000", "--json"];
    const ran = await this.run(call, { timeoutMs: CALL_TIMEOUT_MS });
    const answer = jsonIn(ran.stdout);
    if (ran.exitCode === 0 && at(answer, "ok") === true) return at(answer, "output", "details");
    const said = at(answer, "error", "message");
    const reason = typeof said === "string" ? said : reasonOf(ran);
    // OpenClaw 2026.8.1 loads a new plugin only at start.
    const remedy = reason.startsWith("Tool not available")
      ? `. A gateway that was running before the plugin was installed may need a restart: ${this.restartCommand}, then: ${INSTALLER} --verify`
      : "";
    throw new HelmdeckError(
      "upstream_failed",
      `The gateway did not run the tool ${name}: ${reason}${remedy}`,
    );
  }

  /** The plugin has no dependencies, but npm would look for OpenClaw itself, for minutes where no registry answers. */
  async installPlugin(tarball: string): Promise<void> {
    const args = ["plugins", "install", `npm-pack:${tarball}`, "--force", "--accept-capabilities"];
    await this.must("install the plugin", args, {
      env: { npm_config_offline: "true" },
      timeoutMs: INSTALL_TIMEOUT_MS,
    });
  }

  async uninstallPlugin(id: string): Promise<void> {
    await this.must("uninstall the plugin", ["plugins", "uninstall", id, "--force"], {
      timeoutMs: INSTALL_TIMEOUT_MS,
    });
  }

  /** The folder of the plugin's files; undefined if it is not installed. */
  async pluginFolder(id: string): Promise<string | undefined> {
    const { exitCode, stdout } = await this.run(["plugins", "inspect", id, "--json"]);
    const folder = exitCode === 0 ? at(jsonIn(stdout), "plugin", "rootDir") : undefined;
    return typeof folder === "string" ? folder : undefined;
  }

  async #writeInContainer(path: string, bytes: Uint8Array): Promise<void> {
    const script = 'umask 077; cat > "$1.helmdeck" && mv "$1.helmdeck" "$1"';
    const ran = await this.exec(["sh", "-c", script, "sh", path], { input: bytes });
    if (ran.exitCode !== 0) throw openclawFailed("put its configuration back", ran);
  }
}

function openclawFailed(what: string, ran: CommandResult): HelmdeckError {
  return new HelmdeckError("upstream_failed", `OpenClaw could not ${what}: ${reasonOf(ran)}`);
}

/** OpenClaw's versions are dates: year.month.day. */
export function isOlder(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => text.split(/[.-]/, 3).map(Number));
  const differs = right?.findIndex((number, index) => number !== left?.[index]) ?? -1;
  return differs !== -1 && (left?.[differs] ?? 0) < (right?.[differs] ?? 0);
}
