/** Plans to start or remove the embedding service. */

import {
  COMPOSE_FILE,
  composeFiles,
  composeVariables,
  IMAGE_PORT,
  NETWORK,
  SERVICE,
} from "../install-names.ts";
import type { DockerReady, Facts, OpenClawReady } from "../installation-facts.ts";
import type { Options } from "../options.ts";
import type { ServicePlace } from "../steps/check-embedding.ts";
import type { Step } from "../steps/registry.ts";

export interface EmbeddingsPlan {
  readonly before: readonly Step[];
  readonly checks: readonly Step[];
  /** Steps that run only after nothing refers to the service any more. */
  readonly after: readonly Step[];
  /** The address for OpenClaw; undefined without embeddings. */
  readonly baseUrl: string | undefined;
}

export function planEmbeddings(openclaw: OpenClawReady, facts: Facts, options: Options): EmbeddingsPlan {
  const { embeddings, model } = options;
  const { docker, service } = facts;
  if (embeddings.kind === "url") {
    const place = { url: embeddings.url };
    const planned = planOf(
      embeddings.url,
      modelSteps(facts, model, place),
      checks(openclaw, embeddings.url, model, place),
    );
    return isSidecarAt(embeddings.url, docker) ? planned : { ...planned, after: stopSteps(facts) };
  }
  if (embeddings.kind === "none" || docker.state !== "ready") return { ...NOTHING, after: stopSteps(facts) };
  const baseUrl = addressFor(openclaw, docker.sidecar.port);
  const place: ServicePlace = openclaw.target.kind === "host" ? { url: baseUrl } : { container: SERVICE };
  const before = [
    ...(docker.hasNetwork ? [] : [{ kind: "create-network", network: NETWORK } as const]),
    ...startSteps(openclaw, docker, options),
    ...(service?.hasModel === true ? [] : modelSteps(facts, model, place)),
  ];
  return planOf(baseUrl, before, checks(openclaw, baseUrl, model, place));
}

const THIS_MACHINE: ReadonlySet<string> = new Set([
  "127.0.0.1",
  "localhost",
  "[::1]",
  "host.docker.internal",
]);

const NOTHING: EmbeddingsPlan = { before: [], checks: [], after: [], baseUrl: undefined };

function planOf(baseUrl: string, before: readonly Step[], checked: readonly Step[]): EmbeddingsPlan {
  return { ...NOTHING, before, checks: checked, baseUrl };
}

function addressFor({ target }: OpenClawReady, port: number): string {
  return target.kind === "host" ? `http://127.0.0.1:${port}` : `http://${SERVICE}:${IMAGE_PORT}`;
}

/** Somebody may name the sidecar by its address. */
function isSidecarAt(url: string, docker: Facts["docker"]): boolean {
  const { hostname, port } = new URL(url);
  if (hostname === SERVICE) return true;
  return THIS_MACHINE.has(hostname) && docker.state === "ready" && port === `${docker.sidecar.port}`;
}

function startSteps(openclaw: OpenClawReady, docker: DockerReady, { gpu, model }: Options): readonly Step[] {
  const { state, isHealthy, isAsWanted, port } = docker.sidecar;
  if (state === "running" && isHealthy && isAsWanted) return [];
  return [
    {
      kind: "start-sidecar",
      compose: docker.compose,
      files: composeFiles(openclaw, gpu),
      environment: composeVariables(model, port),
      downloadsImage: !docker.hasImage,
    },
  ];
}

function modelSteps({ service }: Facts, model: string, place: ServicePlace): readonly Step[] {
  return service?.hasModel === true ? [] : [{ kind: "pull-model", model, service: place }];
}

function checks(
  { target }: OpenClawReady,
  baseUrl: string,
  model: string,
  service: ServicePlace,
): readonly Step[] {
  const here: Step = { kind: "check-embedding", model, service };
  if (target.kind === "host") return [here];
  return [here, { kind: "check-from-container", container: target.name, url: baseUrl, model }];
}

/** Stops the sidecar of an earlier run. Its models stay, so that it can be started again quickly. */
function stopSteps({ docker, journal }: Facts): readonly Step[] {
  if (!journal.startedSidecar || docker.state !== "ready" || docker.sidecar.state === "absent") return [];
  return [{ kind: "stop-sidecar", compose: docker.compose, files: [COMPOSE_FILE], deletesModels: false }];
}
