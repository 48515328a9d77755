/** Checks that the service returns an embedding. This also loads the model, which then stays in memory. */

import { HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { INSTALLER } from "../install-names.ts";
import { EXIT } from "../installer-exit-codes.ts";
import { FIRST_EMBEDDING_MS, reachService, runInit, type ServicePlace } from "./service-for-embeddings.ts";
import type { StepDefinition } from "./step-definition.ts";

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
