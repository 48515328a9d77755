/** The question what is to embed facts: its answers on this machine, and the answer if nobody can be asked. */
import { INSTALLER } from "./install-names.ts";
import type { Facts } from "./installation-facts.ts";
import type { Choices } from "./journal.ts";
import type { Options } from "./options.ts";
import { sidecarPrerequisites } from "./plan/prerequisites.ts";
import { MODEL_MB } from "./steps/install-model.ts";

type Embeddings = Choices["embeddings"];

export interface Answer {
  readonly embeddings: Embeddings;
  readonly text: string;
}

export const EMBEDDING_QUESTION =
  "How should memory find facts that are asked for in other words? (You can change this later.)";

/** The recommended answer first. */
export function embeddingAnswers(facts: Facts, { model }: Pick<Options, "model">): readonly Answer[] {
  const { docker, ollama } = facts;
  const download =
    docker.state === "ready" && docker.hasImage ? "" : "; downloads several GB, about 9 GB on disk";
  const sidecar: Answer = {
    embeddings: { kind: "sidecar" },
    text: `sidecar: Ollama in Docker${download}; for many languages, and for OpenClaw's own notes too`,
  };
  const own: readonly Answer[] =
    ollama === undefined
      ? []
      : [
          {
            embeddings: { kind: "url", url: ollama },
            text: `your Ollama at ${ollama} (it downloads the model ${model} if needed)`,
          },
        ];
  return [...(hasSidecar(facts) ? [sidecar] : []), BUILT_IN, ...own, NONE];
}

/** Without anybody to ask: the sidecar where Docker can be used, else the built-in model. */
export function defaultEmbeddings(facts: Facts): Embeddings {
  return hasSidecar(facts) ? { kind: "sidecar" } : BUILT_IN.embeddings;
}

/** Why the built-in model was chosen, for whoever was not asked. */
export function defaultNote(facts: Facts): string {
  const [unmet] = sidecarPrerequisites(facts);
  const { ollama } = facts;
  const own = ollama === undefined ? "" : `; or, with the Ollama on this machine: --embeddings-url ${ollama}`;
  return `${unmet?.message ?? ""} So the built-in model is used, which knows English only. For more languages, once Docker works: ${INSTALLER} --embeddings sidecar${own}`;
}

/** Why the sidecar is not among the answers. */
export function noSidecarNote(facts: Facts): string {
  return `${sidecarPrerequisites(facts)[0]?.message ?? ""} So the sidecar, Ollama in Docker, cannot be chosen now.`;
}

function hasSidecar(facts: Facts): boolean {
  return sidecarPrerequisites(facts).length === 0;
}

const BUILT_IN: Answer = {
  embeddings: { kind: "builtin" },
  text: `built in: a small model inside OpenClaw; ${MODEL_MB} MB on disk, no Docker, no download; for English`,
};
const NONE: Answer = { embeddings: { kind: "none" }, text: "none: search by keywords only" };
