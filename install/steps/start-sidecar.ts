/** Starts the embedding sidecar and waits until it answers; stops it, optionally with its models. */
import { HelmdeckError } from "../../engine/errors.ts";
import type { Environment } from "../environment.ts";
import { COMPOSE_FILE, SERVICE } from "../install-names.ts";
import type { ComposeFlavour } from "../installation-facts.ts";
import { lineIn } from "../run-command.ts";
import type { Container, Docker } from "../run-docker.ts";
import { EXIT, type StepDefinition } from "./step-definition.ts";

interface StartSidecar {
  readonly kind: "start-sidecar";
  readonly compose: ComposeFlavour;
  readonly files: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly downloadsImage: boolean;
}
interface StopSidecar {
  readonly kind: "stop-sidecar";
  readonly compose: ComposeFlavour;
  readonly files: readonly string[];
  readonly deletesModels: boolean;
}

const ANSWERS_WITHIN_MS = 180_000;
const LOOK_TIMEOUT_MS = 20_000;
const LOOK_AGAIN_MS = 500;
/** After this many restarts it counts as failing. */
const MAX_RESTARTS = 3;

const DOWNLOAD =
  "downloads its image: several GB, about 9 GB on disk. With --embeddings builtin nothing is downloaded";

export const startSidecar: StepDefinition<StartSidecar, StopSidecar> = {
  kind: "start-sidecar",
  title: () => "start the sidecar, Ollama in Docker",
  detail: ({ downloadsImage }) => (downloadsImage ? DOWNLOAD : undefined),
  exitCode: EXIT.sidecar,
  record: () => ({ startedSidecar: true }),
  run: async ({ compose, files, environment: variables }, { environment }) => {
    await environment.docker.up(compose, files, variables);
    await waitUntilItAnswers(environment);
  },
  undo: {
    kind: "stop-sidecar",
    title: ({ deletesModels }) =>
      `stop the embedding sidecar; its downloaded models ${deletesModels ? "are deleted" : "stay"}`,
    exitCode: EXIT.sidecar,
    plan: ({ journal, docker, purge }) =>
      docker !== undefined && journal.startedSidecar
        ? { kind: "stop-sidecar", compose: docker.compose, files: [COMPOSE_FILE], deletesModels: purge }
        : undefined,
    run: ({ compose, files, deletesModels }, { environment }) =>
      environment.docker.down(compose, files, { volumes: deletesModels }),
    forgets: ["startedSidecar"],
  },
};

/** It is healthy only when it has the model, which a later step downloads. */
async function waitUntilItAnswers({ docker, pause, now }: Environment): Promise<void> {
  const deadline = now() + ANSWERS_WITHIN_MS;
  for (;;) {
    const container = await docker.container(SERVICE);
    if (container?.State.Running && (await answers(docker))) return;
    if (hasEnded(container)) throw await endedByItself(docker);
    if (now() > deadline) {
      throw new HelmdeckError(
        "embeddings_unavailable",
        `The sidecar did not answer within ${ANSWERS_WITHIN_MS / 1_000} s. See: docker logs ${SERVICE}`,
      );
    }
    await pause(LOOK_AGAIN_MS);
  }
}

async function answers(docker: Docker): Promise<boolean> {
  const list = await docker.exec(SERVICE, ["ollama", "list"], { timeoutMs: LOOK_TIMEOUT_MS });
  return list.exitCode === 0;
}

function hasEnded(container: Container | undefined): boolean {
  const { State: { Status = "" } = {}, RestartCount = 0 } = container ?? {};
  return ["exited", "dead"].includes(Status) || RestartCount >= MAX_RESTARTS;
}

async function endedByItself(docker: Docker): Promise<HelmdeckError> {
  const said = lineIn(await docker.logTail(SERVICE)) ?? "it printed nothing";
  return new HelmdeckError(
    "embeddings_unavailable",
    `The sidecar stopped: ${said} See: docker logs ${SERVICE}`,
  );
}
