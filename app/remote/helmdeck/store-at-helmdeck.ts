/** Stores a fact in a running helmdeck and reads it back: with its memory off, helmdeck reports success, but the fact is lost. */

import { HelmdeckError } from "../../../engine/errors.ts";
import { FACT_LIMITS, validateFact } from "../../../engine/facts/facts-policy.ts";
import { pathOf } from "../../../engine/projections/paths.ts";
import { placeholderTime } from "../../../engine/rfc3339.ts";
import { requireRevision } from "../../../engine/rules/conditions.ts";
import { fingerprintOf } from "../../../engine/store/entry-id.ts";
import type { Subject } from "../../../engine/store/namespace.ts";
import type { FactInput, Memory, StoredFact } from "../../memory.ts";
import type { EngineClient } from "../engine/engine-client.ts";
import type { HelmdeckFact } from "./helmdeck-chunks.ts";
import { STORED } from "./helmdeck-rest.ts";
import { notThere } from "./helmdeck-texts.ts";
import type { KnownRows } from "./known-rows.ts";
import { lookUpKey } from "./look-up-key.ts";

export interface StoreParts {
  readonly url: string;
  readonly rest: EngineClient;
  readonly known: KnownRows;
  /** Checks against the cached rows. */
  readonly checkFact: Memory["checkFact"];
}

/**
 * helmdeck has no conditions: the fact is looked at just before it is sent, and somebody else may still come between.
 *
 * Throws the errors of storing here, and `engine_unavailable` when the fact is missing afterwards.
 */
export async function storeAtHelmdeck(
  { url, rest, known, checkFact }: StoreParts,
  agent: Subject,
  input: FactInput,
): Promise<StoredFact> {
  refuseSupersedes(url, input);
  const { key, tags, value, sameAs, similar, ...checked } = await checkFact(agent, input);
  const { ttlSeconds = FACT_LIMITS.defaultTtlSeconds } = validateFact(input);
  const before = (await lookUpKey(known, key)).fact;
  requireRevision(before && { revision: revisionOf(before) }, input.ifRevision);
  const category = input.category ? checked.category : (before?.category ?? checked.category);
  const stored = await rest.call(agent, {
    ...{ path: "/api/v1/memory/store", writes: true, answers: STORED },
    body: { key, value, category, tags, ttl_seconds: ttlSeconds },
  });
  const { fact } = await lookUpKey(known, key);
  if (fact?.value !== value)
    throw new HelmdeckError(
      "engine_unavailable",
      `The helmdeck at ${url} reported that it stored the fact, but it is not there: helmdeck loses facts while its memory is off (HELMDECK_MEMORY_KEY). Treat it as not stored.`,
    );
  const replaced = before && { updatedAt: placeholderTime(0), refreshed: before.value === value };
  return {
    ...{ key, category, expiresAt: stored.expiresAt, path: pathOf(category, key) },
    revision: revisionOf(fact),
    ...(replaced && { replaced }),
    ...(sameAs && { sameAs }),
    ...(similar && { similar }),
  };
}

/** Of what helmdeck shows: another one when it shows something else, also in another process. */
export function revisionOf({ value, category }: Pick<HelmdeckFact, "value" | "category">): number {
  const shown = fingerprintOf(Buffer.from(JSON.stringify([category, value])));
  return Number.parseInt(shown.slice(0, 12), 16) + 1; // 0 means that there is none
}

export function refuseSupersedes(url: string, { supersedes }: FactInput): void {
  if (supersedes !== undefined && supersedes.length > 0)
    throw notThere(
      url,
      "cannot supersede facts: store this one without supersedes, and forget the outdated fact by its key",
    );
}
