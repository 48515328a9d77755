/** Checks OpenClaw's own notes: the gateway uses the configured provider, and its index is complete. */
import { HelmdeckError } from "../../engine/errors.ts";
import type { Environment } from "../environment.ts";
import { INSTALLER } from "../install-names.ts";
import { at, type Json, jsonIn } from "../openclaw-json.ts";
import type { OpenClaw } from "../run-openclaw.ts";
import { smokeTestFailed } from "./smoke-test-gateway.ts";

/** A gateway reloads when its search setting changes; generous for a slow machine. */
const SETTLED_WITHIN_MS = 120_000;
const LOOK_AGAIN_MS = 1_000;

/** Asks the gateway itself: the command line may already use a provider that the running gateway has not loaded. */
export async function waitUntilSearchUses(
  openclaw: OpenClaw,
  provider: string,
  { now, pause }: Pick<Environment, "now" | "pause">,
): Promise<void> {
  const deadline = now() + SETTLED_WITHIN_MS;
  for (;;) {
    const answer = await openclaw
      .callTool("memory_search", { query: "smoke test", corpus: "memory" })
      .catch((error: Error) => error);
    const seen = answer instanceof Error ? answer.message : searchState(answer);
    if (seen === provider) return;
    if (now() > deadline) {
      throw new HelmdeckError(
        "embeddings_unavailable",
        `The gateway's memory_search does not use ${provider}: ${seen}. Restart the gateway (${openclaw.restartCommand}), then: ${INSTALLER} --verify`,
      );
    }
    await pause(LOOK_AGAIN_MS);
  }
}

function searchState(details: Json | undefined): string {
  const error = at(details, "error");
  if (at(details, "unavailable") === true)
    return `it is unavailable (${typeof error === "string" ? error : "no reason"})`;
  const provider = at(details, "provider");
  return typeof provider === "string" ? provider : "no provider";
}

/** OpenClaw's own check of its index. Throws if embedding failed or the index belongs to another provider. */
export async function embeddedNotes(openclaw: OpenClaw): Promise<string> {
  const report = await openclaw.must("check its index", ["memory", "status", "--deep", "--json"]);
  const agents = jsonIn(report);
  if (!Array.isArray(agents))
    throw smokeTestFailed(
      "OpenClaw does not report the state of its index. See: openclaw memory status --deep",
    );
  for (const agent of agents) {
    const error = at(agent, "embeddingProbe", "error");
    if (at(agent, "embeddingProbe", "ok") !== true)
      throw smokeTestFailed(
        `OpenClaw got no embedding${typeof error === "string" ? `: ${error}` : ""}. See: openclaw memory status --deep; then: ${INSTALLER} --verify`,
      );
    const identity = at(agent, "status", "custom", "indexIdentity", "status");
    if (chunksOf(agent) > 0 && identity !== "valid")
      throw smokeTestFailed(
        `OpenClaw's index is ${String(identity)}; openclaw memory index --force rebuilds it.`,
      );
  }
  const chunks = agents.reduce<number>((sum, agent) => sum + chunksOf(agent), 0);
  return `${chunks} ${chunks === 1 ? "chunk" : "chunks"} indexed`;
}

function chunksOf(agent: Json): number {
  const chunks = at(agent, "status", "chunks");
  return typeof chunks === "number" ? chunks : 0;
}
