/** Inspects Docker: engine, compose, network, and the current and wanted state of the sidecar. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { composeFiles, composeVariables } from "../compose-files.ts";
import type { Environment } from "../environment.ts";
import { COMPOSE_FILE, IMAGE_PORT, NETWORK, SERVICE } from "../install-names.ts";
import type { ComposeFlavour, DockerFacts, OpenClawFacts, SidecarFacts } from "../installation-facts.ts";
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
