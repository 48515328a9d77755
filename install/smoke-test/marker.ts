/**
 * The marker of the smoke test: a fact about nobody, stored through the gateway, asked for in its words and in others, forgotten.
 *
 * It is forgotten through the gateway; where that is gone meanwhile, in the memory itself; and it expires after an hour.
 */
import { existsSync } from "node:fs";
import { nodeSqliteDriver, openMemory } from "../../app/index.ts";
import type { MemoryLocation } from "../installation-facts.ts";
import { at } from "../openclaw-json.ts";
import type { OpenClaw } from "../run-openclaw.ts";
import type { StepContext } from "../step-context.ts";
import { smokeTestFailed } from "./smoke-test-failed.ts";

export const MARKER = {
  key: "install.sh/proof",
  value: "A newborn puppy opens its eyes after two weeks.",
} as const;

/** The second shares no word with the marker, nor a stem or synonym of one: only what both mean leads from it to the marker. */
export const QUESTIONS = {
  verbatim: "newborn puppy opens its eyes",
  paraphrased: "how long do young canines stay blind",
} as const;

const TTL_SECONDS = 3_600;
/** OpenClaw's default agent, in whose memory the marker is. */
const SUBJECT = "main";

/** Where memory shows it. */
export interface Marker {
  readonly path: string;
}

export async function storeMarker(openclaw: OpenClaw): Promise<Marker> {
  const fact = { ...MARKER, ttl_seconds: TTL_SECONDS };
  const path = at(await openclaw.callTool("helmdeck__memory_store", fact), "path");
  if (typeof path !== "string")
    throw smokeTestFailed("The tool helmdeck__memory_store did not say where it stored.");
  return { path };
}

export async function isFound(openclaw: OpenClaw, { path }: Marker, query: string): Promise<boolean> {
  const results = at(await openclaw.callTool("memory_search", { query }), "results");
  return Array.isArray(results) && results.some((hit) => at(hit, "path") === path);
}

/** Never throws: a marker that stays is told, and is no reason to call the smoke test failed. */
export async function forgetMarker(
  openclaw: OpenClaw,
  memory: MemoryLocation | undefined,
  { environment, warn }: StepContext,
): Promise<void> {
  const scope = `key:${MARKER.key}`;
  try {
    await openclaw.callTool("helmdeck__memory_forget", { scope });
  } catch {
    const isForgotten = await forgetDirectly(memory, environment.env, scope);
    if (!isForgotten) warn(`The marker ${MARKER.key} could not be forgotten; it expires within an hour.`);
  }
}

/** Past the gateway, in the memory that it uses; where there is none, none is made. */
async function forgetDirectly(
  place: MemoryLocation | undefined,
  env: StepContext["environment"]["env"],
  scope: string,
): Promise<boolean> {
  if (place === undefined || !existsSync(place.databasePath)) return false;
  try {
    const memory = await openMemory({ ...place, env, driver: nodeSqliteDriver, sweepEveryMs: 0 });
    await memory.forget(SUBJECT, { scope }).finally(() => memory.close());
    return true;
  } catch {
    return false;
  }
}
