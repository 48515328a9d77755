/** Downloads the model into the embedding service. It is kept on uninstall, because other programs may use it. */
import { DEFAULT_MODEL } from "../install-names.ts";
import { reachService, runInit, type ServicePlace } from "./check-embedding.ts";
import { EXIT, type StepDefinition } from "./step-definition.ts";

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
    // The service may not have run when this was planned; and an existing model needs no network.
    if (await service.hasModel(model).catch(() => false)) return "already downloaded";
    await service.pull(model, ({ completedBytes, totalBytes }) => {
      if (completedBytes !== undefined && totalBytes !== undefined) progress(completedBytes, totalBytes);
    });
    return undefined;
  },
};
