/** The embedding service for a step. */
import { HelmdeckError } from "../../engine/errors.ts";
import type { OllamaSidecar } from "../../sidecar/embedding-service.ts";
import type { Environment } from "../environment.ts";
import { containerAddress } from "../inspect/inspect-docker.ts";

/** Its address: a given one, or the sidecar's, which is known only when it runs. */
export type ServicePlace = { readonly url: string } | { readonly container: string };

/** For a cold model on a slow disk. */
export const FIRST_EMBEDDING_MS = 120_000;

/** Undefined if the container's network is unreachable (Docker Desktop). */
export async function reachService(
  place: ServicePlace,
  { docker, sidecarAt }: Environment,
): Promise<OllamaSidecar | undefined> {
  if ("url" in place) return sidecarAt(place.url);
  const address = containerAddress(await docker.container(place.container));
  if (address === undefined) return undefined;
  const service = sidecarAt(address);
  return (await service.health()).ok ? service : undefined;
}

/** Runs the compose file's one-shot helper, which downloads the model and checks that it embeds. */
export async function runInit(model: string, { docker }: Environment): Promise<void> {
  const flavour = await docker.compose();
  if (flavour === undefined)
    throw new HelmdeckError("upstream_failed", "Docker compose is no longer installed.");
  await docker.runInit(flavour, model);
}
