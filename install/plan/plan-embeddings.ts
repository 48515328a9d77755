/** Plans what embeds: the built-in model, or a service that is started, used or removed. */

import {
  COMPOSE_FILE,
  composeFiles,
  composeVariables,
  IMAGE_PORT,
  NETWORK,
  SERVICE,
} from "../install-names.ts";
import type { DockerReady, Facts, FactsService, FactsWanted, OpenClawReady } from "../installation-facts.ts";
import type { Options } from "../options.ts";
import type { ServicePlace } from "../steps/check-embedding.ts";
import { placeOf } from "../steps/install-model.ts";
import type { Step } from "../steps/registry.ts";

export interface EmbeddingsPlan {
  readonly before: readonly Step[];
  readonly checks: readonly Step[];
  /** Steps that run only after nothing refers to the service any more. */
  readonly after: readonly Step[];
  /** The service's address for OpenClaw; undefined without one. */
  readonly baseUrl: string | undefined;
  /** The step that puts the built-in model in its place, after the plugin. */
  readonly model: readonly Step[];
  /** What embeds helmdeck's facts. */
  readonly facts: FactsWanted;
}

export function planEmbeddings(openclaw: OpenClawReady, facts: Facts, options: Options): EmbeddingsPlan {
  const { embeddings, model } = options;
  const { docker, service } = facts;
  if (embeddings.kind === "url") {
    const place = { url: embeddings.url };
    const planned = planOf(
      { url: embeddings.url, model },
      modelSteps(facts, model, place),
      checks(openclaw, embeddings.url, model, place),
    );
    return isSidecarAt(embeddings.url, docker) ? planned : { ...planned, after: stopSteps(facts) };
  }
  if (embeddings.kind === "builtin") return builtInPlan(openclaw, facts);
  if (embeddings.kind === "none" || docker.state !== "ready") return { ...NOTHING, after: stopSteps(facts) };
  const baseUrl = addressFor(openclaw, docker.sidecar.port);
  const place: ServicePlace = openclaw.target.kind === "host" ? { url: baseUrl } : { container: SERVICE };
  const before = [
    ...(docker.hasNetwork ? [] : [{ kind: "create-network", network: NETWORK } as const]),
    ...startSteps(openclaw, docker, options),
    ...(service?.hasModel === true ? [] : modelSteps(facts, model, place)),
  ];
  return planOf({ url: baseUrl, model }, before, checks(openclaw, baseUrl, model, place));
}

function builtInPlan(openclaw: OpenClawReady, facts: Facts): EmbeddingsPlan {
  const after = stopSteps(facts);
  const { facts: now } = openclaw;
  const stays = now.provider === "ollama" && after.length === 0;
  return {
    ...{ ...NOTHING, model: installModelSteps(openclaw, facts), after },
    facts: { provider: "builtin", ...(stays && { former: { url: now.url, model: now.model } }) },
  };
}

/** For --repair: the model of an installation that uses it. */
export function modelRepairSteps(openclaw: OpenClawReady, facts: Facts): readonly Step[] {
  const { provider } = openclaw.facts;
  const isUsed = provider === "builtin" || (provider === "unset" && facts.journal.installedModel);
  return isUsed ? installModelSteps(openclaw, facts) : [];
}

function installModelSteps(openclaw: OpenClawReady, { plugin }: Facts): readonly Step[] {
  if (openclaw.hasModel) return [];
  return [{ kind: "install-model", ...placeOf(openclaw), version: plugin.version }];
}

const THIS_MACHINE: ReadonlySet<string> = new Set([
  "127.0.0.1",
  "localhost",
  "[::1]",
  "host.docker.internal",
]);

const NOTHING: EmbeddingsPlan = {
  ...{ before: [], checks: [], model: [], after: [], baseUrl: undefined },
  facts: { provider: "none" },
};

function planOf(
  service: Pick<FactsService, "url" | "model">,
  before: readonly Step[],
  checked: readonly Step[],
): EmbeddingsPlan {
  const facts = { provider: "ollama", ...service } as const;
  return { ...NOTHING, before, checks: checked, baseUrl: service.url, facts };
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
