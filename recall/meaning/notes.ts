/** Why an answer is less than it could be, for a person and a model: one short sentence, chosen by code alone. */
import type { ErrorCode } from "../../engine/index.ts";
import type { Coverage } from "../vectors/contract.ts";

export const NOTHING_EMBEDDED = "Searched by words alone: nothing here is embedded yet.";

const PHRASES: Partial<Readonly<Record<ErrorCode, string>>> = {
  deadline_exceeded: "the embedding service did not answer in time",
  embeddings_out_of_memory: "the embedding service has too little memory for its model",
  model_missing: "the embedding service does not have the model",
  rate_limited: "the embedding service was asked too often",
  dimension_mismatch: "the embedding model changed",
};

export function missedNote(code: ErrorCode): string {
  return `Searched by words alone: ${PHRASES[code] ?? "the embedding service is not available"}.`;
}

/** Undefined when all that can be is embedded. */
export function coverageNote({ embedded, total, refused }: Coverage): string | undefined {
  if (embedded + refused >= total) return undefined;
  return `Meaning is known of ${embedded} of ${total} entries so far; the others are found by words.`;
}
