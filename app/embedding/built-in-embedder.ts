/** The built-in model as an embedder: one text at a time, so that a question waits for at most one text of a fact. */
import { systemClock } from "../../engine/timing.ts";
import { type FoundModel, findModel, type ModelKind } from "../../model/artefact.ts";
import { BuiltInModel, MODEL_NAME, MULTILINGUAL_NAME, WHO } from "../../model/run-model.ts";
import { createBatchedEmbedder } from "../../sidecar/batched-embedder.ts";
import type { SidecarEmbedder } from "../../sidecar/embedding-service.ts";
import { checkVectors, withDeadline } from "../../sidecar/http-client.ts";

/** Where the model was when memory was opened, and where to look again. */
export interface ModelPlace {
  readonly found: FoundModel;
  readonly find: () => Promise<FoundModel>;
}

const NAMES = { english: MODEL_NAME, multilingual: MULTILINGUAL_NAME } as const;
const DIMENSIONS = { english: 384, multilingual: 512 } as const;
/** More than 256 pieces have in any language that it knows; the model says exactly how much it reads. */
const MOST_TEXT_BYTES = 4_096;
/** Covers loading it on a busy machine. */
const LIMITS = { concurrency: 1, requestTimeoutMs: 60_000 };

export async function modelPlaceIn(stateFolder: string): Promise<ModelPlace> {
  const find = () => findModel(stateFolder);
  return { found: await find(), find };
}

/** Starts nothing before the first call. One process may serve an embedder of each kind; who made it closes it. */
export function createBuiltInEmbedder(
  find: ModelPlace["find"],
  kind: ModelKind = "english",
  model: BuiltInModel = new BuiltInModel({ find }),
): SidecarEmbedder {
  const asked = { who: WHO, model: NAMES[kind] };
  return createBatchedEmbedder(
    {
      ...asked,
      isLocal: true,
      send: async (texts, limits) => {
        const asking = () => Promise.all(texts.map((text) => model.embed(text, kind)));
        const vectors = await withDeadline(limits, systemClock.timer, WHO, asking);
        const raw = vectors.map((vector) => [...vector]);
        return checkVectors(asked, raw, { count: texts.length, dimensions: DIMENSIONS[kind] });
      },
      warm: () => model.load(kind),
      close: () => model.close(),
    },
    { model: NAMES[kind], maxBatchTexts: 1, maxTextBytes: MOST_TEXT_BYTES },
    LIMITS,
    { clock: systemClock, random: Math.random },
  );
}
