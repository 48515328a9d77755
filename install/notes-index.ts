/**
 * OpenClaw's index of its own notes, one for each agent: does it fit who embeds now? Pure functions on what OpenClaw prints.
 *
 * An index with vectors of a provider that is gone is worse than none. Where nobody chose another one, OpenClaw refuses to touch
 * it, and finds no note that was written since.
 */
import { at, isObject, type Json } from "./openclaw-json.ts";

export interface UnfitIndex {
  readonly agentId: string;
  /** Somebody chose who embeds for this agent, be it nobody ("none"). */
  readonly isChosen: boolean;
}

/** Of `openclaw memory status --json` and the configuration as it is written; undefined when it cannot be told. */
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

/** Without vectors it fits whoever has no provider; OpenClaw calls it mismatched as long as it has not tried one. */
function fits(index: Json | undefined, isChosen: boolean): boolean {
  if (!isObject(index)) return true; // this agent searches no notes
  if (at(index, "custom", "indexIdentity", "status") === "valid") return true;
  return !isChosen && at(index, "vector", "dims") === undefined;
}

function chosenFor(agentId: string, config: Json | undefined): boolean {
  const own = at(config, "agents", "entries", agentId, "memory", "search", "provider");
  const provider = own ?? at(config, "memory", "search", "provider");
  return typeof provider === "string" && provider !== "" && provider !== "auto";
}
