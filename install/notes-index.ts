/**
 * Checks whether OpenClaw's note indexes (one per agent) match the current embedding provider: pure functions on OpenClaw's output.
 *
 * An index with vectors of a removed provider is worse than none: unless another provider is chosen, OpenClaw refuses to change
 * it and finds no newer notes.
 */
import { at, isObject, type Json } from "./openclaw-json.ts";

export interface UnfitIndex {
  readonly agentId: string;
  /** A provider was chosen for this agent, perhaps "none". */
  readonly isChosen: boolean;
}

/** From `openclaw memory status --json` and the configuration as written; undefined if unknown. */
export function unfitIndexes(
  status: Json | undefined,
  config: Json | undefined,
): readonly UnfitIndex[] | undefined {
  if (!Array.isArray(status)) return undefined;
  return status.flatMap((agent) => {
    const agentId = at(agent, "agentId");
    if (typeof agentId !== "string") return [];
    const isChosen = chosenFor(agentId, config);
    return fits(at(agent, "status"), isChosen) ? [] : [{ agentId, isChosen }];
  });
}

/** An index without vectors matches an agent without a provider, although OpenClaw reports a mismatch until it has tried one. */
function fits(index: Json | undefined, isChosen: boolean): boolean {
  if (!isObject(index)) return true; // this agent does not search notes
  if (at(index, "custom", "indexIdentity", "status") === "valid") return true;
  return !isChosen && at(index, "vector", "dims") === undefined;
}

function chosenFor(agentId: string, config: Json | undefined): boolean {
  const own = at(config, "agents", "entries", agentId, "memory", "search", "provider");
  const provider = own ?? at(config, "memory", "search", "provider");
  return typeof provider === "string" && provider !== "" && provider !== "auto";
}
