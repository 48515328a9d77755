/** The model, downloaded into the embedding service. It stays there: other programs may use it. */
import { DEFAULT_MODEL } from "../install-names.ts";
import { EXIT } from "../installer-exit-codes.ts";
import { reachService, runInit, type ServicePlace } from "./service-for-embeddings.ts";
import type { StepDefinition } from "./step-definition.ts";

interface PullModel {
  readonly kind: "pull-model";
  readonly model: string;
  readonly service: ServicePlace;
}

export const pullModel: StepDefinition<PullModel> = {
  kind: "pull-model",
  title: ({ model }) => `download the model ${model}`,
  detail: ({ model }) => (model === DEFAULT_MODEL ? "0.3 GB" : undefined),
  exitCode: EXIT.sidecar,
  run: async ({ model, service: place }, { environment, progress }) => {
    const service = await reachService(place, environment);
    if (service === undefined) {
      await runInit(model, environment);
      return undefined;
    }
    // When this was planned, the service may not have run; and a model that is there needs no network.
    if (await service.hasModel(model).catch(() => false)) return "it is there already";
    await service.pull(model, ({ completedBytes, totalBytes }) => {
      if (completedBytes !== undefined && totalBytes !== undefined) progress(completedBytes, totalBytes);
    });
    return undefined;
  },
};
