/** Calls OpenClaw's memory_search like an agent, and reads its reply. */
import type { Json, JsonObject, OpenClawClient } from "../openclaw-host/openclaw-host.ts";

export interface DemoHit {
  readonly corpus: string;
  readonly path: string;
  readonly score: number;
  readonly snippet: string;
  /** The source's note: the hit is only possibly related, or the search was partial. */
  readonly provenanceLabel?: string;
  readonly startLine?: number;
  readonly endLine?: number;
}

export interface Answer {
  readonly query: string;
  readonly ms: number;
  /** In memory_search's order. */
  readonly hits: readonly DemoHit[];
  readonly warning?: string;
}

/** POST /tools/invoke with only the question: no corpus, no agent. */
export async function askMemorySearch(openclaw: OpenClawClient, query: string): Promise<Answer> {
  const reply = await openclaw.invokeTool("memory_search", { query });
  if (!reply.ok) throw new Error(`memory_search failed: ${reply.error?.message ?? `status ${reply.status}`}`);
  const { results, warning } = reply.details;
  const hits = Array.isArray(results) ? results.flatMap(hitFrom) : [];
  return { query, ms: reply.ms, hits, ...(typeof warning === "string" && { warning }) };
}

function hitFrom(result: Json): readonly DemoHit[] {
  if (typeof result !== "object" || result === null || Array.isArray(result)) return [];
  const { corpus, path, score, snippet, provenanceLabel, startLine, endLine } = result as JsonObject; // neither null nor an array
  if (typeof path !== "string" || typeof score !== "number" || typeof snippet !== "string") return [];
  return [
    {
      corpus: typeof corpus === "string" ? corpus : "memory",
      path,
      score,
      snippet,
      ...(typeof provenanceLabel === "string" && { provenanceLabel }),
      ...(typeof startLine === "number" && { startLine }),
      ...(typeof endLine === "number" && { endLine }),
    },
  ];
}
