/** Doctor's check of semantic search: service and model, whether it answers, and how many entries are embedded. */
import { asHelmdeckError } from "../../engine/errors.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import { remedyFor } from "../health/remedies.ts";
import type { Finding } from "../memory.ts";
import { embedderText } from "../presenters/words.ts";
import type { UseCaseContext } from "../use-case-context.ts";
import { MOST_MEMORIES } from "./change-watch.ts";
import { type Embeddings, PROBE } from "./open-embeddings.ts";

const CHECK = "semantic search";
/** A loaded model answers within a tenth of this; one that is not may take longer, and doctor reports it. */
const PROBE_MS = 5_000;

/** Requests one vector from the service. Never throws. */
export async function embeddingsFinding(
  embeddings: Embeddings,
  context: UseCaseContext,
  warm: (namespace: Namespace) => Promise<void>,
): Promise<Finding> {
  const status = embeddings.status();
  if (status.provider === "none") {
    const why = status.problem ?? "No embedding service is configured.";
    return { level: "ok", check: CHECK, message: `Off: search uses keywords. ${why}` };
  }
  if (status.provider === "unusable") {
    const remedy = "Correct the setting (docs/reference/embeddings.md). Keyword search continues.";
    return { level: "warning", check: CHECK, message: status.problem, remedy };
  }
  const where = embedderText(status);
  try {
    await embeddings.active?.embedder.embedQuery(PROBE, { deadlineMs: embeddings.patienceMs ?? PROBE_MS });
    return {
      level: "ok",
      check: CHECK,
      message: `${where}: answers. ${await coverage(embeddings, context, warm)}`,
    };
  } catch (error) {
    const { code, message } = asHelmdeckError(error);
    // The remedy of a deadline is about changes; a question makes none.
    const remedy = remedyFor(code === "deadline_exceeded" ? "embeddings_unavailable" : code);
    return { level: "warning", check: CHECK, message: `${where}: ${message}`, remedy };
  }
}

/** Counts over all memories, which are read into the index one after the other. */
async function coverage(
  { active }: Embeddings,
  { store }: UseCaseContext,
  warm: (namespace: Namespace) => Promise<void>,
): Promise<string> {
  let [embedded, total, refused] = [0, 0, 0];
  for (const { namespace } of (await store.namespaces()).slice(0, MOST_MEMORIES)) {
    await warm(namespace);
    const known = active?.index.coverage(namespace);
    embedded += known?.embedded ?? 0;
    total += known?.total ?? 0;
    refused += known?.refused ?? 0;
  }
  const not = refused === 0 ? "" : ` ${refused} were refused and are found by keywords only.`;
  return `Embedded: ${embedded} of ${total} entries.${not}`;
}
