/**
 * A separate Docker engine for the tests, with its own data, socket and process. It does not change the machine's packet filter, and is
 * ended by its process id. The tests never contact another Docker engine on the machine.
 */
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export interface DockerRan {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const READY_WITHIN_MS = 60_000;
const ENDED_WITHIN_MS = 60_000;
const LOOK_AGAIN_MS = 100;
/** The program of docker compose v2. Without it, the tests use docker-compose v1. */
const COMPOSE_V2 = process.env.HELMDECK_TEST_COMPOSE_V2;
const BUSYBOX = "/bin/busybox";

/** Tries to start an engine. Returns the reason if none can run here, else undefined. */
export async function whyNoEngine(): Promise<string | undefined> {
  return whyNotHere() ?? whatIsNotInstalled() ?? (await whatTheTrialSays());
}

function whyNotHere(): string | undefined {
  if (process.platform !== "linux") return "a Docker engine of the tests' own needs Linux";
  if (process.getuid?.() !== 0) return "starting a Docker engine needs root";
  return undefined;
}

function whatIsNotInstalled(): string | undefined {
  const missing = [
    ["dockerd", "--version"],
    ["docker", "--version"],
    ...(COMPOSE_V2 === undefined ? [["docker-compose", "version"]] : []),
    ["iptables", "--version"],
    [BUSYBOX, "true"],
  ].filter(([program = "", ...args]) => spawnSync(program, args).status !== 0);
  const names = missing.map(([program]) => program).join(", ");
  return names === ""
    ? undefined
    : `not installed: ${names} (Debian: apt-get install docker.io docker-compose iptables busybox-static)`;
}

/** Inside a container, root may have the programs but no permission to start containers. */
async function whatTheTrialSays(): Promise<string | undefined> {
  let engine: Engine | undefined;
  try {
    engine = await Engine.start();
    const archive = join(engine.root, "trial.tar");
    execFileSync("tar", ["-C", dirname(BUSYBOX), "-cf", archive, basename(BUSYBOX)]);
    await engine.docker("import", archive, "trial");
    await engine.docker("run", "--rm", "trial", `/${basename(BUSYBOX)}`, "true");
    return undefined;
  } catch (error) {
    return `a Docker engine does not work on this machine: ${error instanceof Error ? error.message : error}`;
  } finally {
    await engine?.stop();
  }
}

/**
 * Ends the engine and removes its files when standard input closes, even if the tests are killed. Containers and networks are removed
 * first, because a stopped engine leaves the bridges of its networks on the machine. `$0` is its folder.
 */
const WATCHED = `
dockerd "$@" </dev/null & engine=$!
cat >/dev/null
docker -H "unix://$0/docker.sock" ps -aq | xargs -r docker -H "unix://$0/docker.sock" rm -f -v
docker -H "unix://$0/docker.sock" network prune -f
kill -TERM "$engine"; wait "$engine"
while iptables -D FORWARD -m physdev --physdev-is-bridged -m comment --comment "$0" -j ACCEPT; do :; done 2>/dev/null
rm -rf "$0"
`;

export class Engine {
  readonly root: string;
  readonly #watcher: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(root: string, watcher: ChildProcess) {
    this.root = root;
    this.#watcher = watcher;
    this.#ended = once(watcher, "exit");
  }

  static async start(): Promise<Engine> {
    // The path is short because a socket's path is limited to 107 bytes.
    const root = await realpath(await mkdtemp(join(tmpdir(), "hd-docker-")));
    if (COMPOSE_V2 !== undefined) await addPlugin(join(root, "client"), COMPOSE_V2);
    const log = openSync(join(root, "log"), "a");
    const watcher = spawn(
      "sh",
      [
        ...["-c", WATCHED, root],
        ...["--data-root", join(root, "data"), "--exec-root", join(root, "exec")],
        ...["--pidfile", join(root, "pid"), "--host", `unix://${join(root, "docker.sock")}`],
        // The engine's own proxy publishes ports, so the machine's packet filter and forwarding stay unchanged.
        ...["--bridge=none", "--iptables=false", "--ip-masq=false", "--ip-forward=false"],
      ],
      { stdio: ["pipe", log, log], detached: true },
    );
    closeSync(log);
    const engine = new Engine(root, watcher);
    try {
      await engine.#untilReady();
      engine.#letContainersTalk();
      return engine;
    } catch (error) {
      await engine.stop();
      throw error;
    }
  }

  get env(): { readonly DOCKER_HOST: string; readonly DOCKER_CONFIG: string } {
    return {
      DOCKER_HOST: `unix://${join(this.root, "docker.sock")}`,
      DOCKER_CONFIG: join(this.root, "client"),
    };
  }

  /** The client's command for compose. */
  static get compose(): readonly [string, ...string[]] {
    return COMPOSE_V2 === undefined ? ["docker-compose"] : ["docker", "compose"];
  }

  /** Runs a docker command, which must succeed. Returns its standard output. */
  async docker(...args: readonly string[]): Promise<string> {
    const ran = await this.try(...args);
    if (ran.code !== 0) throw new Error(`docker ${args.join(" ")} ended with ${ran.code}:\n${ran.stderr}`);
    return ran.stdout.trim();
  }

  try(...args: readonly string[]): Promise<DockerRan> {
    return this.run("docker", args);
  }

  run(file: string, args: readonly string[], cwd?: string): Promise<DockerRan> {
    return new Promise((resolve) => {
      const options = { env: { ...process.env, ...this.env }, maxBuffer: 64e6, ...(cwd && { cwd }) };
      execFile(file, [...args], options, (error, stdout, stderr) => {
        const code = typeof error?.code === "number" ? error.code : error === null ? 0 : 1;
        resolve({ code, stdout, stderr });
      });
    });
  }

  /** Removes everything in it, then the engine, then its folder. */
  async stop(): Promise<void> {
    const timer = setTimeout(() => killGroup(this.#watcher.pid), ENDED_WITHIN_MS);
    this.#watcher.stdin?.end();
    await this.#ended;
    clearTimeout(timer);
    if (existsSync(this.root)) await this.#clearUpAfterKill();
  }

  /** The engine may still run, and its mounts remain. A folder that contains a mount cannot be deleted. */
  async #clearUpAfterKill(): Promise<void> {
    killGroup(this.#watcher.pid);
    const mounts = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" ")[1] ?? "");
    const ours = mounts.filter((place) => place.startsWith(`${this.root}/`)).reverse();
    if (ours.length > 0) spawnSync("umount", ["-l", ...ours]);
    await rm(this.root, { recursive: true, force: true });
  }

  /**
   * Another engine may have made the packet filter drop unknown traffic. One rule then lets containers on the same bridge communicate while
   * these tests run. Different networks stay separate.
   */
  #letContainersTalk(): void {
    const policy = spawnSync("iptables", ["-S", "FORWARD"]).stdout?.toString() ?? "";
    if (!policy.startsWith("-P FORWARD DROP")) return;
    const bridged = ["-m", "physdev", "--physdev-is-bridged", "-m", "comment", "--comment", this.root];
    spawnSync("iptables", ["-I", "FORWARD", ...bridged, "-j", "ACCEPT"]);
  }

  async #untilReady(): Promise<void> {
    const deadline = Date.now() + READY_WITHIN_MS;
    while ((await this.try("version")).code !== 0) {
      if (Date.now() > deadline) {
        const log = await readFile(join(this.root, "log"), "utf8").catch(() => "");
        throw new Error(`dockerd did not start:\n${log.split("\n").slice(-15).join("\n")}`);
      }
      await pause(LOOK_AGAIN_MS);
    }
  }
}

/** Adds a program to the folder in which Docker's client looks for plugins. */
async function addPlugin(config: string, program: string): Promise<void> {
  const folder = join(config, "cli-plugins");
  await mkdir(folder, { recursive: true });
  await symlink(program, join(folder, "docker-compose"));
}

/** Kills the process group of the shell, the engine, and the processes that the engine started. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
