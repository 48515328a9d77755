/** Why an answer is less than it could be, for a person and a model: one short sentence, chosen by code alone. */
import type { ErrorCode } from "../../engine/index.ts";
import type { Coverage, EmbeddingStatus } from "../vectors/semantic-contract.ts";

const NOTHING_EMBEDDED = "Searched by keywords only: nothing is embedded yet.";
const UNDER_WAY = "Embedding continues in the background; try again in a moment.";
const HOW_TO_EMBED =
  "helmdeck-memory embed does it now; a gateway or server that runs does it in the background.";

const PHRASES: Partial<Readonly<Record<ErrorCode, string>>> = {
  deadline_exceeded: "the embedding service did not answer in time",
  embeddings_out_of_memory: "the embedding service has too little memory for its model",
  model_missing: "the embedding service does not have the model",
  rate_limited: "the embedding service was asked too often",
  dimension_mismatch: "the embedding model changed",
};

export function missedNote(code: ErrorCode): string {
  return `Searched by keywords only: ${PHRASES[code] ?? "the embedding service is not available"}.`;
}

/** With what to do, or why there is nothing yet. */
export function nothingEmbeddedNote({ lastError, embeds }: EmbeddingStatus): string {
  if (lastError !== undefined) return missedNote(lastError);
  return `${NOTHING_EMBEDDED} ${embeds ? UNDER_WAY : HOW_TO_EMBED}`;
}

/** Undefined when all that can be is embedded. */
export function coverageNote({ embedded, total, refused }: Coverage): string | undefined {
  if (embedded + refused >= total) return undefined;
  return `Embedded: ${embedded} of ${total} entries so far. The others are found by keywords.`;
}
