/** Lists all unmet prerequisites together, each with its remedy. */
import { INSTALLER, OLDEST_FOR_NOTES, OLDEST_OPENCLAW } from "../install-names.ts";
import {
  type Facts,
  type GatewayLock,
  type OpenClawFacts,
  type OpenClawReady,
  type Target,
  targetName,
} from "../installation-facts.ts";
import type { Options } from "../options.ts";
import { isOlder } from "../run-openclaw.ts";
import type { UnmetPrerequisite } from "./plan.ts";

/** Ollama's image takes about 9 GB according to its users; the model takes 0.3 GB. */
const DISK_FOR_IMAGE_BYTES = 12e9;
const DISK_FOR_MODEL_BYTES = 1e9;
const MEMORY_BYTES = 2e9;

export function unmetPrerequisites(facts: Facts, options: Options): readonly UnmetPrerequisite[] {
  const all = [
    openclawPrerequisite(facts.openclaw, options),
    sameTargetPrerequisite(facts),
    ...(options.mode === "install" ? embeddingsPrerequisites(facts, options) : []),
  ];
  return all.filter((unmet) => unmet !== undefined);
}

function embeddingsPrerequisites(
  facts: Facts,
  { embeddings }: Options,
): readonly (UnmetPrerequisite | undefined)[] {
  if (embeddings.kind === "sidecar") return sidecarPrerequisites(facts);
  return embeddings.kind === "url" ? [servicePrerequisite(facts, embeddings.url)] : [];
}

/** What the sidecar lacks on this machine. */
export function sidecarPrerequisites(facts: Facts): readonly UnmetPrerequisite[] {
  const all = [dockerPrerequisite(facts), diskPrerequisite(facts), memoryPrerequisite(facts)];
  return all.filter((unmet) => unmet !== undefined);
}

function openclawPrerequisite(openclaw: OpenClawFacts, options: Options): UnmetPrerequisite | undefined {
  switch (openclaw.state) {
    case "ready":
      return readyPrerequisite(openclaw, options);
    case "missing":
      return {
        what: "openclaw",
        message:
          "OpenClaw is not on this machine: there is no command openclaw, and no container that runs it.",
        remedy:
          "npm install -g openclaw && openclaw onboard; or name its container: --openclaw container:NAME",
      };
    case "ambiguous":
      return {
        what: "openclaw",
        message: `There is more than one OpenClaw: ${openclaw.choices.join(", ")}.`,
        remedy: `Choose one: --openclaw ${openclaw.choices[0]}`,
      };
    case "no_such_container":
      return {
        what: "openclaw",
        message: `No running container ${openclaw.name} has the command openclaw.`,
        remedy: `docker start ${openclaw.name}, or see docker ps for its name.`,
      };
    case "broken":
      return { what: "openclaw", message: openclaw.reason, remedy: "openclaw doctor" };
  }
}

function readyPrerequisite(openclaw: OpenClawReady, { mode, notes }: Options): UnmetPrerequisite | undefined {
  const { version, gateway, disabledPlugins } = openclaw;
  const unmet = (message: string, remedy: string): UnmetPrerequisite => ({
    what: "openclaw",
    message,
    remedy,
  });
  if (isOlder(version, OLDEST_OPENCLAW))
    return unmet(`OpenClaw ${version} is older than ${OLDEST_OPENCLAW}.`, "openclaw update");
  if (mode === "install" && notes === "builtin" && isOlder(version, OLDEST_FOR_NOTES))
    return unmet(
      `OpenClaw ${version} could not go back from --notes builtin: only ${OLDEST_FOR_NOTES} and later delete an index of notes.`,
      "openclaw update, or --notes none",
    );
  if (gateway === "remote")
    return unmet(
      "This OpenClaw uses a gateway on another machine (gateway.mode is remote), and memory is kept beside the gateway.",
      "Run this on that machine.",
    );
  if (disabledPlugins.includes("*"))
    return unmet("OpenClaw's plugins are disabled.", "openclaw config set plugins.enabled true");
  // OpenClaw's command line indexes its notes itself.
  return mode === "repair" ? undefined : gatewayPrerequisite(openclaw);
}

/** The journal records one installation; a second one elsewhere would lose the first one's undo information. */
function sameTargetPrerequisite({ openclaw, journal }: Facts): UnmetPrerequisite | undefined {
  if (openclaw.state !== "ready" || journal.target === undefined) return undefined;
  if (targetName(openclaw.target) === targetName(journal.target)) return undefined;
  const where = targetName(journal.target);
  return {
    what: "openclaw",
    message: `An earlier run installed into ${where}, but this run would install into ${targetName(openclaw.target)}.`,
    remedy: `First: ${INSTALLER} --uninstall --openclaw ${where}`,
  };
}

function dockerPrerequisite({ docker, ollama }: Facts): UnmetPrerequisite | undefined {
  const there =
    ollama === undefined
      ? "an existing Ollama (--embeddings-url URL)"
      : `the Ollama that answers on this machine (--embeddings-url ${ollama})`;
  const remedy = (first: string) => `${first}; or use the built-in model (--embeddings builtin), or ${there}`;
  const unmet = (message: string, first: string): UnmetPrerequisite => ({
    what: "docker",
    message,
    remedy: remedy(first),
  });
  switch (docker.state) {
    case "ready":
      return undefined;
    case "missing":
      return unmet("Docker is not installed.", "Install it (https://docs.docker.com/engine/install)");
    case "unreachable":
      return unmet(
        "Docker's engine does not answer.",
        "Start it (sudo systemctl start docker), and check that this account may use it (group docker)",
      );
    case "no_compose":
      return unmet("Docker compose is not installed.", "Install docker compose v2, or docker-compose v1.29");
  }
}

function diskPrerequisite({ docker, machine, service }: Facts): UnmetPrerequisite | undefined {
  if (docker.state !== "ready") return undefined;
  const image = docker.hasImage ? 0 : DISK_FOR_IMAGE_BYTES;
  const needed = image + (service?.hasModel === true ? 0 : DISK_FOR_MODEL_BYTES);
  if (docker.sidecar.state === "running" || machine.freeDiskBytes >= needed) return undefined;
  return {
    what: "disk",
    message: `The sidecar needs ${gigabytes(needed)} of disk; ${gigabytes(machine.freeDiskBytes)} are free.`,
    remedy: "Free some space, or use the built-in model: --embeddings builtin.",
  };
}

function memoryPrerequisite({ docker, machine }: Facts): UnmetPrerequisite | undefined {
  const isThere = docker.state !== "ready" || docker.sidecar.state === "running";
  if (isThere || machine.memoryBytes >= MEMORY_BYTES) return undefined;
  return {
    what: "memory",
    message: `The sidecar needs a machine with ${gigabytes(MEMORY_BYTES)} of memory; this one has ${gigabytes(machine.memoryBytes)}.`,
    remedy:
      "Use an Ollama on another machine (--embeddings-url URL), or the built-in model: --embeddings builtin.",
  };
}

function servicePrerequisite({ service }: Facts, url: string): UnmetPrerequisite | undefined {
  if (service === undefined || service.health === "ok") return undefined;
  return {
    what: "embeddings",
    message: `No Ollama answers at ${url}: ${service.health.reason}`,
    remedy:
      "Start it, or correct the address. Or use the built-in model (--embeddings builtin), or a sidecar (--embeddings sidecar).",
  };
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Prerequisites of OpenClaw's gateway: nothing is changed while a gateway runs that refuses or does not answer. */
function gatewayPrerequisite(openclaw: OpenClawReady): UnmetPrerequisite | undefined {
  const { gateway, target } = openclaw;
  if (target.kind === "container" && gateway === "stopped")
    return unmet(
      `The gateway in the container ${target.name} does not answer.`,
      `docker logs ${target.name}; docker restart ${target.name}`,
    );
  return gatewayAccessPrerequisite(openclaw);
}

/** The gateway exists but cannot be reached: OpenClaw's own plugin commands would fail. */
export function gatewayAccessPrerequisite({ gateway, target }: OpenClawReady): UnmetPrerequisite | undefined {
  if (typeof gateway === "object") return lockedGateway(gateway, target);
  if (gateway !== "silent") return undefined;
  return unmet(
    `OpenClaw's gateway${inPlace(target)} may be running, but does not answer.`,
    "See: openclaw gateway status --deep. If it is just starting or busy, run this again in a minute.",
  );
}

function lockedGateway({ variable, problem }: GatewayLock, target: Target): UnmetPrerequisite {
  const who = `OpenClaw's gateway${inPlace(target)} runs`;
  switch (problem) {
    case "missing":
      return unmet(
        `${who}, and ${variable} is not set${there(target)}, but the gateway requires it.`,
        remedyFor(variable, target),
      );
    case "refused":
      return unmet(
        `${who}, and refuses the credentials that OpenClaw's command line has${there(target)}.`,
        remedyFor(variable, target),
      );
    case "locked_out":
      return unmet(
        `${who}, and refuses all logins for a while after too many wrong credentials.`,
        "Wait a few minutes, then run this again.",
      );
  }
}

function remedyFor(variable: string, target: Target): string {
  const right = `${variable} to the value that the gateway was started with`;
  return target.kind === "host"
    ? `Set ${right} (export ${variable}=…) and run this again; or stop the gateway first: openclaw gateway stop`
    : `Set ${right} in the environment of the container ${target.name}, and run this again.`;
}

function inPlace(target: Target): string {
  return target.kind === "host" ? "" : ` in the container ${target.name}`;
}

function there(target: Target): string {
  return target.kind === "host" ? " in this shell" : " there";
}

function unmet(message: string, remedy: string): UnmetPrerequisite {
  return { what: "gateway", message, remedy };
}
