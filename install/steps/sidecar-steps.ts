/** The steps that bring the embedding service up and prove that it embeds, and the one that takes it away. */
import { HelmdeckError, isHelmdeckError } from "../../app/index.ts";
import type { OllamaSidecar } from "../../sidecar/index.ts";
import type { Container } from "../docker-commands.ts";
import { containerAddress } from "../inspect/inspect-docker.ts";
import { NETWORK, SERVICE } from "../install-names.ts";
import { lineIn } from "../reason.ts";
import { requireOpenClaw, type Work } from "../step-context.ts";
import type { ServicePlace, Step } from "./step-kinds.ts";

type Of<Kind extends Step["kind"]> = Extract<Step, { kind: Kind }>;

const HEALTHY_WITHIN_MS = 180_000;
const LOOK_AGAIN_MS = 500;
/** It ends again and again as soon as it has started. */
const MAX_RESTARTS = 3;
/** A cold model on a slow disk. */
const FIRST_EMBEDDING_MS = 120_000;

export async function createNetwork(_step: Of<"create-network">, { world }: Work): Promise<void> {
  await world.journal.record({ madeNetwork: true });
  await world.docker.createNetwork();
}

export async function startSidecar(step: Of<"start-sidecar">, { world }: Work): Promise<void> {
  const { docker, journal, pause, now } = world;
  await journal.record({ startedSidecar: true });
  await docker.up(step.compose, step.files, step.environment);
  const deadline = now() + HEALTHY_WITHIN_MS;
  for (;;) {
    const container = await docker.container(SERVICE);
    if (container?.State.Health?.Status === "healthy") return;
    if (hasEnded(container)) throw await endedByItself(docker);
    if (now() > deadline) {
      throw new HelmdeckError(
        "embeddings_unavailable",
        `The sidecar was not healthy within ${HEALTHY_WITHIN_MS / 1_000} s. See: docker logs ${SERVICE}`,
      );
    }
    await pause(LOOK_AGAIN_MS);
  }
}

function hasEnded(container: Container | undefined): boolean {
  const { State: { Status = "" } = {}, RestartCount = 0 } = container ?? {};
  return ["exited", "dead"].includes(Status) || RestartCount >= MAX_RESTARTS;
}

async function endedByItself(docker: Work["world"]["docker"]): Promise<HelmdeckError> {
  const said = lineIn(await docker.logTail(SERVICE)) ?? "it said nothing";
  return new HelmdeckError(
    "embeddings_unavailable",
    `The sidecar ended by itself: ${said} See: docker logs ${SERVICE}`,
  );
}

/** Asked first: when this was planned, the service may not have run; and a model that is there needs no network. */
export async function pullModel(
  step: Of<"pull-model">,
  { world, progress }: Work,
): Promise<string | undefined> {
  const service = await reach(step.service, world);
  if (service === undefined) {
    await runInit(step.model, world);
    return undefined;
  }
  if (await service.hasModel(step.model).catch(() => false)) return "it is there already";
  await service.pull(step.model, ({ completedBytes, totalBytes }) => {
    if (completedBytes !== undefined && totalBytes !== undefined) progress(completedBytes, totalBytes);
  });
  return undefined;
}

/** Also loads the model, which then stays in memory. */
export async function checkEmbedding(step: Of<"check-embedding">, { world }: Work): Promise<string> {
  const service = await reach(step.service, world);
  if (service === undefined) {
    await runInit(step.model, world);
    return "from inside its network";
  }
  const request = { model: step.model, texts: ["search_query: ping"] };
  const [vector] = await service.embed(request, { deadlineMs: FIRST_EMBEDDING_MS }).catch(withOurRemedy);
  return `${vector?.length ?? 0} dimensions`;
}

function withOurRemedy(error: unknown): never {
  if (!isHelmdeckError(error, "embeddings_out_of_memory")) throw error;
  throw new HelmdeckError(error.code, `${error.message} ${MORE_MEMORY}`, { cause: error });
}

const MORE_MEMORY =
  "The sidecar that this starts may take 2 GB: HELMDECK_EMBEDDINGS_MEMORY=4g install.sh gives it more.";

/** Asked from where OpenClaw will ask: a name that resolves here need not resolve there. */
export async function checkFromContainer(step: Of<"check-from-container">, work: Work): Promise<string> {
  const { url, model, container } = step;
  const ran = await requireOpenClaw(work).exec(["node", "-e", ASK_FROM_INSIDE, url, model], {
    timeoutMs: FIRST_EMBEDDING_MS,
  });
  if (ran.exitCode === 0) return `${ran.stdout.trim()} dimensions`;
  const said = ran.stderr.trim().split("\n").at(-1) || "it said nothing";
  throw new HelmdeckError(
    "embeddings_unavailable",
    `${container} gets no embedding from ${url}: ${said}. A loopback address means the container itself there; Docker's name for this machine is host.docker.internal.`,
  );
}

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

export async function stopSidecar(step: Of<"stop-sidecar">, { world }: Work): Promise<void> {
  await world.docker.down(step.compose, step.files, { volumes: step.deletesModels });
  await world.journal.record({ startedSidecar: undefined });
}

export async function removeNetwork(_step: Of<"remove-network">, { world, warn }: Work): Promise<void> {
  const isGone = await world.docker.removeNetwork();
  if (!isGone) warn(`The network ${NETWORK} stays: something is still on it.`);
  await world.journal.record({ madeNetwork: undefined });
}

/** The service as this process reaches it; undefined where the container's network is out of reach (Docker Desktop). */
async function reach(
  place: ServicePlace,
  { docker, sidecarAt }: Work["world"],
): Promise<OllamaSidecar | undefined> {
  if ("url" in place) return sidecarAt(place.url);
  const address = containerAddress(await docker.container(place.container));
  if (address === undefined) return undefined;
  const service = sidecarAt(address);
  return (await service.health()).ok ? service : undefined;
}

/** The compose file's own one-shot helper, which downloads the model and proves that it embeds. */
async function runInit(model: string, { docker }: Work["world"]): Promise<void> {
  const flavour = await docker.compose();
  if (flavour === undefined)
    throw new HelmdeckError("upstream_failed", "Docker's compose is not there any more.");
  await docker.runInit(flavour, model);
}
