/** Checks that the service returns an embedding. This also loads the model, which then stays in memory. */
import { HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import type { OllamaSidecar } from "../../sidecar/embedding-service.ts";
import type { Environment } from "../environment.ts";
import { containerAddress } from "../inspect/inspect-docker.ts";
import { INSTALLER } from "../install-names.ts";
import { EXIT, requireOpenClaw, type StepDefinition } from "./step-definition.ts";

interface CheckEmbedding {
  readonly kind: "check-embedding";
  readonly model: string;
  readonly service: ServicePlace;
}

const MORE_MEMORY = `By default the sidecar may use 2 GB of memory. To give it more: HELMDECK_EMBEDDINGS_MEMORY=4g ${INSTALLER}`;

export const checkEmbedding: StepDefinition<CheckEmbedding> = {
  kind: "check-embedding",
  title: ({ model }) => `check that ${model} embeds`,
  exitCode: EXIT.sidecar,
  run: async ({ model, service: place }, { environment }) => {
    const service = await reachService(place, environment);
    if (service === undefined) {
      await runInit(model, environment);
      return "from inside its network";
    }
    const request = { model, texts: ["search_query: ping"] };
    const [vector] = await service.embed(request, { deadlineMs: FIRST_EMBEDDING_MS }).catch(addRemedy);
    return `${vector?.length ?? 0} dimensions`;
  },
};

function addRemedy(error: unknown): never {
  if (!isHelmdeckError(error, "embeddings_out_of_memory")) throw error;
  throw new HelmdeckError(error.code, `${error.message} ${MORE_MEMORY}`, { cause: error });
}

interface CheckFromContainer {
  readonly kind: "check-from-container";
  readonly container: string;
  readonly url: string;
  readonly model: string;
}

/** Checks the embedding service from OpenClaw's container, because a name that resolves here may not resolve there. */
export const checkFromContainer: StepDefinition<CheckFromContainer> = {
  kind: "check-from-container",
  title: ({ container, url }) => `check that ${container} reaches ${url}`,
  exitCode: EXIT.openclaw,
  run: async ({ url, model, container }, context) => {
    const ran = await requireOpenClaw(context).exec(["node", "-e", ASK_FROM_INSIDE, url, model], {
      timeoutMs: FIRST_EMBEDDING_MS,
    });
    if (ran.exitCode === 0) return `${ran.stdout.trim()} dimensions`;
    const said = ran.stderr.trim().split("\n").at(-1) || "it printed nothing";
    throw new HelmdeckError(
      "embeddings_unavailable",
      `${container} gets no embedding from ${url}: ${said}. In a container, a loopback address means the container itself; use host.docker.internal for this machine.`,
    );
  },
};

const ASK_FROM_INSIDE = `
const [, url, model] = process.argv;
const body = JSON.stringify({ model, input: "search_query: ping" });
fetch(url + "/api/embed", { method: "POST", headers: { "content-type": "application/json" }, body })
  .then((response) => response.json())
  .then(({ embeddings, error }) => {
    if (!embeddings) throw new Error(error || "no embedding in the answer");
    console.log(embeddings[0].length);
  })
  .catch((error) => {
    console.error(error.cause ? error.cause.code || error.cause.message : error.message);
    process.exitCode = 1;
  });
`;

/** Its address: a given one, or the sidecar's, which is known only when it runs. */
export type ServicePlace = { readonly url: string } | { readonly container: string };

/** For a cold model on a slow disk. */
const FIRST_EMBEDDING_MS = 120_000;

/**
 * The embedding service for a step.
 *
 * Undefined if the container's network is unreachable (Docker Desktop).
 */
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
