/** Inspects Docker: engine, compose, network, and the current and wanted state of the sidecar. */

import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { basename, dirname, join, resolve } from "node:path";
import { unlessMissing } from "../../engine/private-file.ts";
import type { Environment } from "../environment.ts";
import {
  COMPOSE_FILE,
  composeFiles,
  composeVariables,
  IMAGE_PORT,
  NETWORK,
  SERVICE,
} from "../install-names.ts";
import type {
  AttachmentFacts,
  ComposeFlavour,
  ComposeMembership,
  DockerFacts,
  OpenClawFacts,
  SidecarFacts,
  Target,
} from "../installation-facts.ts";
import type { Options } from "../options.ts";
import type { Container, Docker } from "../run-docker.ts";

/** The number of loopback ports to try, starting with Ollama's default. */
const PORTS_TRIED = 50;

export async function inspectDocker(
  environment: Environment,
  options: Options,
  openclaw: OpenClawFacts,
): Promise<DockerFacts> {
  const { docker } = environment;
  const engine = await docker.engine();
  if (engine === undefined) return { state: "missing" };
  if (engine === null) return { state: "unreachable" };
  const compose = await docker.compose();
  if (compose === undefined) return { state: "no_compose", engine };
  const image = await imageName(environment);
  const [hasNetwork, hasImage, sidecar] = await Promise.all([
    docker.hasNetwork(),
    docker.hasImage(image),
    inspectSidecar(environment, options, openclaw, compose),
  ]);
  return { state: "ready", engine, compose, hasNetwork, image, hasImage, sidecar };
}

/** The sidecar's address from this process; undefined if it does not run. */
export async function sidecarAddress(
  client: Docker,
  docker: DockerFacts,
  openclaw: OpenClawFacts,
): Promise<string | undefined> {
  if (docker.state !== "ready" || docker.sidecar.state !== "running") return undefined;
  if (openclaw.state === "ready" && openclaw.target.kind === "host")
    return `http://127.0.0.1:${docker.sidecar.port}`;
  return containerAddress(await client.container(SERVICE));
}

/** The container's own address, which is reachable on Linux but not with Docker Desktop. */
export function containerAddress(container: Container | undefined): string | undefined {
  const address = container?.NetworkSettings.Networks?.[NETWORK]?.IPAddress;
  return address ? `http://${address}:${IMAGE_PORT}` : undefined;
}

async function inspectSidecar(
  { docker }: Environment,
  { model, gpu }: Options,
  openclaw: OpenClawFacts,
  flavour: ComposeFlavour,
): Promise<SidecarFacts> {
  const container = await docker.container(SERVICE);
  const port = publishedPort(container) ?? (await freePort(IMAGE_PORT));
  if (container === undefined) return { state: "absent", isHealthy: false, isAsWanted: false, port };
  const where = openclaw.state === "ready" ? openclaw : { target: { kind: "host" } as const };
  const wanted = await docker.wantedHash(flavour, composeFiles(where, gpu), composeVariables(model, port));
  const made = container.Config.Labels?.["com.docker.compose.config-hash"];
  return {
    state: container.State.Running ? "running" : "stopped",
    isHealthy: container.State.Health?.Status === "healthy",
    isAsWanted: wanted === undefined || made === wanted,
    port,
  };
}

async function imageName({ root, env }: Environment): Promise<string> {
  if (env.HELMDECK_EMBEDDINGS_IMAGE) return env.HELMDECK_EMBEDDINGS_IMAGE;
  const text = await readFile(join(root, COMPOSE_FILE), "utf8");
  return /\$\{HELMDECK_EMBEDDINGS_IMAGE:-([^}]+)\}/.exec(text)?.[1] ?? "";
}

function publishedPort(container: Container | undefined): number | undefined {
  const port = Number(container?.HostConfig.PortBindings?.[`${IMAGE_PORT}/tcp`]?.[0]?.HostPort);
  return Number.isInteger(port) && port > 0 ? port : undefined;
}

/** The first free port from here on; the machine's own Ollama may use the default one. */
async function freePort(first: number): Promise<number> {
  for (let port = first; port < first + PORTS_TRIED; port += 1) if (await isFree(port)) return port;
  return first;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** The first line of our override file. */
export const OVERRIDE_MARK = "# Written by helmdeck-memory's install.sh";

const LABEL = "com.docker.compose";
/** The file names that compose finds by default, each with its override file. */
const PROJECT_FILES = new Map<string, string>([
  ["compose.yaml", "compose.override.yaml"],
  ["compose.yml", "compose.override.yml"],
  ["docker-compose.yml", "docker-compose.override.yml"],
  ["docker-compose.yaml", "docker-compose.override.yaml"],
]);

/** Inspects how OpenClaw's container is attached to the network, and how its compose project can keep it attached. */
export async function inspectAttachment(
  { docker }: Environment,
  target: Target,
): Promise<AttachmentFacts | undefined> {
  if (target.kind === "host") return undefined;
  const container = await docker.container(target.name);
  if (container === undefined) return undefined;
  const networks = Object.keys(container.NetworkSettings.Networks ?? {});
  return { isAttached: networks.includes(NETWORK), compose: await membership(container, networks) };
}

async function membership(
  container: Container,
  networks: readonly string[],
): Promise<ComposeMembership | undefined> {
  const label = (name: string) => container.Config.Labels?.[`${LABEL}.${name}`];
  const [project, service, folder] = [label("project"), label("service"), label("project.working_dir")];
  if (project === undefined || service === undefined || folder === undefined) return undefined;
  const files = (label("project.config_files") ?? "").split(",").map((file) => resolve(folder, file));
  const base = files.find((file) => PROJECT_FILES.has(basename(file)));
  const overrideFile = join(folder, PROJECT_FILES.get(basename(base ?? "")) ?? "docker-compose.override.yml");
  return {
    service,
    overrideFile,
    override: await overrideState(overrideFile),
    readsOverride:
      base !== undefined &&
      dirname(base) === resolve(folder) &&
      files.every((file) => file === base || file === overrideFile),
    ownNetworks: networks
      .filter((name) => name.startsWith(`${project}_`))
      .map((name) => name.slice(project.length + 1)),
  };
}

async function overrideState(file: string): Promise<ComposeMembership["override"]> {
  const text = await unlessMissing(readFile(file, "utf8"), undefined);
  if (text === undefined) return "absent";
  return text.startsWith(OVERRIDE_MARK) ? "ours" : "theirs";
}

/**
 * Finds the operator's own Ollama on this machine: at OLLAMA_HOST, or on Ollama's default port. Never contacts another machine.
 *
 * Its address; undefined if none answers.
 */
export async function findOllama({
  env,
  sidecarAt,
}: Pick<Environment, "env" | "sidecarAt">): Promise<string | undefined> {
  const url = loopbackUrl(env.OLLAMA_HOST?.trim() || "127.0.0.1");
  return url !== undefined && (await sidecarAt(url).health()).ok ? url : undefined;
}

/** Parses the variable like Ollama does; a server that listens on all addresses is reached on loopback. */
function loopbackUrl(host: string): string | undefined {
  const text = /^https?:\/\//.test(host) ? host : `http://${host.replace(/^(?=:\d)/, "127.0.0.1")}`;
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port } = new URL(text);
  const address = /^(0\.0\.0\.0|\[::\])$/.test(hostname) ? "127.0.0.1" : hostname;
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(address);
  return isHere && protocol === "http:" ? `http://${address}:${port || IMAGE_PORT}` : undefined;
}
