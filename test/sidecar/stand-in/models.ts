/** The models that the stand-in can pull, described like Ollama's. */
import { createHash } from "node:crypto";

export interface StandInModel {
  readonly dimensions: number;
  readonly contextTokens: number;
  readonly sizeBytes: number;
  readonly family: string;
}

/** The models that can be pulled, with Ollama's sizes and context lengths. */
export const REGISTRY: Readonly<Record<string, StandInModel>> = {
  "nomic-embed-text": { dimensions: 768, contextTokens: 2_048, sizeBytes: 274_302_450, family: "nomic-bert" },
  "all-minilm": { dimensions: 384, contextTokens: 256, sizeBytes: 45_960_996, family: "bert" },
  "mxbai-embed-large": { dimensions: 1_024, contextTokens: 512, sizeBytes: 669_615_493, family: "bert" },
};
export const MODIFIED_AT = "2026-10-03T23:34:03.409490317-07:00";

export function summaryOf([name, model]: readonly [string, StandInModel]) {
  return {
    name,
    model: name,
    modified_at: MODIFIED_AT,
    size: model.sizeBytes,
    digest: digestOf(name),
    details: detailsOf(model),
  };
}

export function detailsOf({ family }: StandInModel) {
  return {
    format: "gguf",
    family,
    families: [family],
    parameter_size: "137M",
    quantization_level: "F16",
  };
}

export function digestOf(name: string): string {
  return createHash("sha256").update(name).digest("hex");
}

/** The name as listed, with its tag. */
export function tagged(name: unknown): string {
  const text = String(name ?? "");
  return text.includes(":") ? text : `${text}:latest`;
}
