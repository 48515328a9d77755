/** Inspects how OpenClaw's container is attached to the network, and how its compose project can keep it attached. */
import { readFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Environment } from "../environment.ts";
import { NETWORK } from "../install-names.ts";
import type { AttachmentFacts, ComposeMembership, Target } from "../installation-facts.ts";
import type { Container } from "../run-docker.ts";

/** The first line of our override file. */
export const OVERRIDE_MARK = "# Written by helmdeck-memory's install.sh";

const LABEL = "com.docker.compose";
/** The file names that compose finds by default, each with its override file. */
const PROJECT_FILES: Readonly<Record<string, string>> = {
  "compose.yaml": "compose.override.yaml",
  "compose.yml": "compose.override.yml",
  "docker-compose.yml": "docker-compose.override.yml",
  "docker-compose.yaml": "docker-compose.override.yaml",
};

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
  const base = files.find((file) => Object.hasOwn(PROJECT_FILES, basename(file)));
  const overrideFile = join(folder, PROJECT_FILES[basename(base ?? "")] ?? "docker-compose.override.yml");
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
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (text === undefined) return "absent";
  return text.startsWith(OVERRIDE_MARK) ? "ours" : "theirs";
}
