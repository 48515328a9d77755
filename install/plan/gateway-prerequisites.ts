/** Prerequisites of OpenClaw's gateway: nothing is changed while a gateway runs that refuses or does not answer. */
import type { GatewayLock, OpenClawReady, Target } from "../installation-facts.ts";
import type { UnmetPrerequisite } from "./plan.ts";

export function gatewayPrerequisite(openclaw: OpenClawReady): UnmetPrerequisite | undefined {
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
