/** Registers the built-in model as an embedding provider of OpenClaw. Nothing is opened or loaded here. */
import { findModel } from "../../model/artefact.ts";
import type { HostApi } from "../openclaw-api.ts";
import { NOTES_PROVIDER } from "./notes-names.ts";
import { makeNotesProvider, NOTES_MODEL } from "./notes-provider.ts";
import { leaseModel, type ModelLease } from "./shared-model.ts";

export function registerNotes(api: HostApi): void {
  // The types are of the newest host.
  if (typeof api.registerEmbeddingProvider !== "function") {
    api.logger.warn("This OpenClaw takes no embedding provider from a plugin. Upgrade OpenClaw.");
    return;
  }
  let lease: ModelLease | undefined;
  api.lifecycle.onDispose?.(() => lease?.release());
  api.registerEmbeddingProvider({
    id: NOTES_PROVIDER,
    defaultModel: NOTES_MODEL,
    // If no provider can be created, OpenClaw then searches by keywords. With a remote one, it would not search at all.
    transport: "local",
    // There is one model, whatever name a former provider left in the settings.
    normalizeModel: () => NOTES_MODEL,
    create: async () => {
      const stateFolder = api.runtime.state.resolveStateDir(process.env);
      const found = await findModel(stateFolder);
      if (!found.ok) throw new Error(found.problem);
      lease ??= leaseModel(stateFolder);
      const provider = makeNotesProvider(NOTES_PROVIDER, lease.model, api.logger);
      return { provider, runtime: { id: NOTES_PROVIDER } };
    },
  });
}
