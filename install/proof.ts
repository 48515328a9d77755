/**
 * The proof: OpenClaw embeds, and a fact that is stored through its gateway is found by its own memory_search, then forgotten.
 *
 * OpenClaw's command line carries the calls and finds the gateway's token by itself. What is stored is a marker that says
 * nothing about anybody; it is forgotten whatever happens, and expires after an hour where even that is impossible.
 */
import { randomBytes } from "node:crypto";
import { findPlace, HelmdeckError, nodeSqliteDriver, openMemory } from "../app/index.ts";
import { at, type Json } from "./json.ts";
import type { OpenClaw } from "./openclaw.ts";
import { withGateway } from "./proof-gateway.ts";
import type { Step } from "./steps.ts";
import { requireOpenClaw, type Work } from "./work.ts";

type ProveStep = Extract<Step, { kind: "prove" }>;

const KEY = "install.sh/proof";
const TTL_SECONDS = 3_600;
/** OpenClaw's default agent, in whose memory the marker is. */
const SUBJECT = "main";
/** A gateway restarts by itself when its search is pointed elsewhere; this is for a slow machine. */
const SETTLED_WITHIN_MS = 120_000;
const LOOK_AGAIN_MS = 1_000;

/** How the marker is asked for. By other words: as soon as helmdeck recalls by meaning, a second question belongs here. */
const QUESTIONS: readonly { readonly by: string; readonly query: (word: string) => string }[] = [
  { by: "its own words", query: (word) => `marker of the installation ${word}` },
];

/** What was proved, in a few words. */
export async function prove(step: ProveStep, work: Work): Promise<string> {
  const openclaw = requireOpenClaw(work);
  if (step.gateway === "running") return proveThrough(openclaw, step, work);
  return withGateway(openclaw, work.world, (gateway) => proveThrough(gateway, step, work));
}

async function proveThrough(openclaw: OpenClaw, { embeddings }: ProveStep, work: Work): Promise<string> {
  const proved: string[] = [];
  if (embeddings !== undefined) {
    await untilSearchUses(openclaw, embeddings.provider, work);
    proved.push(`OpenClaw embeds its own notes (${await embeddedNotes(openclaw)})`);
  }
  proved.push(...(await findMarker(openclaw, work)));
  return proved.join("; ");
}

/** The gateway's own word: its command line may already use a provider that the running gateway has not loaded. */
async function untilSearchUses(openclaw: OpenClaw, provider: string, { world }: Work): Promise<void> {
  const deadline = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const answer = await openclaw
      .callTool("memory_search", { query: "proof", corpus: "memory" })
      .catch((error: Error) => error);
    const seen = answer instanceof Error ? answer.message : searchState(answer);
    if (seen === provider) return;
    if (Date.now() > deadline) {
      throw new HelmdeckError(
        "embeddings_unavailable",
        `The gateway's memory_search does not use ${provider}: ${seen}. Restart the gateway, then: install.sh --verify`,
      );
    }
    await world.pause(LOOK_AGAIN_MS);
  }
}

function searchState(details: Json | undefined): string {
  const error = at(details, "error");
  if (at(details, "unavailable") === true)
    return `it is unavailable (${typeof error === "string" ? error : "no reason"})`;
  const provider = at(details, "provider");
  return typeof provider === "string" ? provider : "no provider";
}

/** OpenClaw's own check of its index; throws when an embedding did not come back or the index is of another provider. */
async function embeddedNotes(openclaw: OpenClaw): Promise<string> {
  const report = await openclaw.must("check its index", ["memory", "status", "--deep", "--json"]);
  const agents = JSON.parse(report.slice(Math.max(0, report.search(/^\[/m)))) as readonly Json[]; // its documented shape
  for (const agent of agents) {
    const error = at(agent, "embeddingProbe", "error");
    if (at(agent, "embeddingProbe", "ok") !== true)
      throw notProved(`OpenClaw got no embedding${typeof error === "string" ? `: ${error}` : "."}`);
    const identity = at(agent, "status", "custom", "indexIdentity", "status");
    if (chunksOf(agent) > 0 && identity !== "valid")
      throw notProved(
        `OpenClaw's index is ${String(identity)}; openclaw memory index --force makes it anew.`,
      );
  }
  const chunks = agents.reduce<number>((sum, agent) => sum + chunksOf(agent), 0);
  return `${chunks} ${chunks === 1 ? "chunk" : "chunks"} indexed`;
}

function chunksOf(agent: Json): number {
  const chunks = at(agent, "status", "chunks");
  return typeof chunks === "number" ? chunks : 0;
}

async function findMarker(openclaw: OpenClaw, work: Work): Promise<readonly string[]> {
  const word = randomBytes(8).toString("hex");
  const value = `The marker of the installation is ${word}. It may be forgotten.`;
  try {
    await openclaw.callTool("helmdeck__memory_store", { key: KEY, value, ttl_seconds: TTL_SECONDS });
    const found: string[] = [];
    for (const { by, query } of QUESTIONS) {
      if (!(await isFound(openclaw, query(word), word)))
        throw notProved(
          `OpenClaw's memory_search did not find a stored fact by ${by}. See: openclaw helmdeck doctor`,
        );
      found.push(`memory_search finds a stored fact by ${by}`);
    }
    return found;
  } finally {
    await forgetMarker(openclaw, work);
  }
}

async function isFound(openclaw: OpenClaw, query: string, word: string): Promise<boolean> {
  const results = at(await openclaw.callTool("memory_search", { query }), "results");
  return Array.isArray(results) && results.some((hit) => JSON.stringify(hit).includes(word));
}

async function forgetMarker(openclaw: OpenClaw, { world, warn }: Work): Promise<void> {
  const scope = `key:${KEY}`;
  try {
    await openclaw.callTool("helmdeck__memory_forget", { scope });
  } catch {
    const isForgotten = openclaw.target.kind === "host" && (await forgetDirectly(world, scope));
    if (!isForgotten) warn(`The marker ${KEY} could not be forgotten; it expires within an hour.`);
  }
}

/** Past the gateway, in the memory that it uses. */
async function forgetDirectly({ env, homeDir }: Work["world"], scope: string): Promise<boolean> {
  try {
    const memory = await openMemory({
      ...findPlace({ env, homeDir }),
      env,
      driver: nodeSqliteDriver,
      sweepEveryMs: 0,
    });
    await memory.forget(SUBJECT, { scope }).finally(() => memory.close());
    return true;
  } catch {
    return false;
  }
}

function notProved(message: string): HelmdeckError {
  return new HelmdeckError("upstream_failed", message);
}
