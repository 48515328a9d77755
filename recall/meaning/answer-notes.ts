/** Explains why an answer may be incomplete, in one short sentence for people and models, chosen by error code. */
import type { ErrorCode } from "../../engine/errors.ts";
import type { Coverage, EmbeddingStatus } from "../vectors/semantic-contract.ts";

const UNDER_WAY = "Embedding continues in the background; try again in a moment.";
const HOW_TO_EMBED =
  "Run helmdeck-memory embed to do it now; a running gateway or server does it in the background.";
const BUSY = " (this machine is busy); try again in a moment.";

type Embedding = Pick<EmbeddingStatus, "isLocal">;

const PHRASES: Partial<Readonly<Record<ErrorCode, string>>> = {
  deadline_exceeded: "WHO did not answer in time",
  embeddings_out_of_memory: "WHO has too little memory",
  model_missing: "the embedding model is not installed",
  model_changed: "the built-in model was changed, and is not loaded",
  rate_limited: "WHO received too many requests",
  dimension_mismatch: "the embedding model changed",
};

export function missedNote(code: ErrorCode, { isLocal }: Embedding): string {
  const phrase = PHRASES[code] ?? "WHO is not available";
  const why = phrase.replace("WHO", isLocal ? "the built-in model" : "the embedding service");
  const remedy = isLocal && code === "deadline_exceeded" ? BUSY : ".";
  return keywordsOnlyNote(`${why}${remedy}`);
}

/** @param why as the end of a sentence */
export function keywordsOnlyNote(why: string): string {
  return `Searched by keywords only: ${why}`;
}

/** With a remedy, or the reason why there are no vectors yet. */
export function nothingEmbeddedNote({ lastError, ...embedding }: EmbeddingStatus): string {
  if (lastError !== undefined) return missedNote(lastError, embedding);
  return keywordsOnlyNote(`no entry is embedded yet. ${embedding.embeds ? UNDER_WAY : HOW_TO_EMBED}`);
}

/** Undefined when everything possible is embedded. */
export function coverageNote({ embedded, total, refused }: Coverage): string | undefined {
  if (embedded + refused >= total) return undefined;
  return `Embedded so far: ${embedded} of ${total} entries. The others are found by keywords.`;
}
