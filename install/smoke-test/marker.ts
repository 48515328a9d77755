/**
 * The smoke test's marker: a neutral fact that is stored through the gateway, searched by a paraphrase or by its words, and forgotten.
 *
 * It is forgotten through the gateway or, if the gateway has stopped, in the memory itself. It expires after an hour anyway.
 */
import { existsSync } from "node:fs";
import { openMemory } from "../../app/open-memory.ts";
import { nodeSqliteDriver } from "../../engine/store/sqlite/node-sqlite-driver.ts";
import type { MemoryLocation } from "../installation-facts.ts";
import { at } from "../openclaw-json.ts";
import type { OpenClaw } from "../run-openclaw.ts";
import type { StepContext } from "../steps/step-definition.ts";
import { smokeTestFailed } from "./smoke-test-gateway.ts";

export const MARKER = {
  key: "install.sh/proof",
  value: "A newborn puppy opens its eyes after two weeks.",
} as const;

/** The paraphrase shares no word, stem or synonym with the marker, so only its meaning can lead to it. */
export const QUESTIONS = {
  verbatim: "newborn puppy opens its eyes",
  paraphrased: "how long do young canines stay blind",
} as const;

const TTL_SECONDS = 3_600;
/** OpenClaw's default agent, whose memory gets the marker. */
const SUBJECT = "main";

/** The marker's path in memory. */
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

/** Never throws: a marker that stays causes a warning, but not a failed smoke test. */
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

/** Without the gateway, in its memory. Does not create a memory. */
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
