/** The stand-in, both clients and a fake clock, for the tests of this module. */
import { inspect } from "node:util";
import { HelmdeckError } from "../../engine/errors.ts";
import type { EmbedderSettings, SidecarEmbedder } from "../../sidecar/embedding-service.ts";
import { createOllamaEmbedder, createOllamaSidecar } from "../../sidecar/ollama.ts";
import { createOpenAiCompatibleEmbedder } from "../../sidecar/openai-compatible.ts";
import { FakeClock } from "./fake-clock.ts";
import { type StandInOptions, startStandInOllama } from "./stand-in-ollama.ts";

export const MODEL = "nomic-embed-text";
/** Must only appear in requests. */
export const KEY = "sk-canary-6b1f0c9ad2";
export const SECRET_TEXT = "the canary sings at midnight";

export type Rig = Awaited<ReturnType<typeof startRig>>;

export const KINDS = ["ollama", "openAi"] as const;

export async function startRig(options: StandInOptions = { models: [MODEL] }) {
  const standIn = await startStandInOllama(options);
  const clock = new FakeClock();
  const parts = { clock, random: () => 0 };
  const sidecar = createOllamaSidecar({ address: standIn.address }, clock.timer);
  const made: SidecarEmbedder[] = [];
  const keep = (embedder: SidecarEmbedder) => {
    made.push(embedder);
    return embedder;
  };
  const ollama = (settings?: Partial<EmbedderSettings>) =>
    keep(createOllamaEmbedder(sidecar, { model: MODEL, ...settings }, parts));
  const openAi = (settings?: Partial<EmbedderSettings>) => {
    const address = `${standIn.address}/v1`;
    return keep(createOpenAiCompatibleEmbedder({ model: MODEL, address, apiKey: KEY, ...settings }, parts));
  };
  return {
    standIn,
    clock,
    sidecar,
    ollama,
    openAi,
    embedder: (kind: (typeof KINDS)[number], settings?: Partial<EmbedderSettings>) =>
      kind === "ollama" ? ollama(settings) : openAi(settings),
    close: async () => {
      for (const embedder of made) embedder.close();
      await standIn.close();
    },
  };
}

/** Returns the error, after checking that it is one of ours and reveals no secret. */
export async function failureOf(promise: Promise<unknown>): Promise<HelmdeckError> {
  const error: unknown = await promise.then(
    () => new Error("It did not fail."),
    (reason: unknown) => reason,
  );
  if (!(error instanceof HelmdeckError)) throw error;
  const shown = `${inspect(error, { depth: 20, showHidden: true })} ${JSON.stringify(error)} ${error.stack}`;
  for (const secret of [KEY, SECRET_TEXT, "canary"])
    if (shown.includes(secret)) throw new Error(`The error tells a secret: ${shown}`);
  return error;
}

/** The texts of each embedding request so far. */
export function inputsOf({ standIn }: Rig): readonly (readonly string[])[] {
  const bodies = standIn.requests.map(({ body }) => body);
  // Our clients' requests have this form; api-description.test.ts checks it.
  return bodies.filter((body) => body !== undefined).map((body) => (body as { input: string[] }).input);
}

export function cosine(one: Float32Array | undefined, other: Float32Array | undefined): number {
  return (one ?? new Float32Array()).reduce((sum, value, at) => sum + value * (other?.[at] ?? 0), 0);
}
