/**
 * Checks whether OpenClaw's note indexes (one per agent) match the current embedding provider: pure functions on OpenClaw's output.
 *
 * An index of a removed provider is worse than none: unless another provider is chosen, OpenClaw refuses to change it and finds
 * no newer notes.
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

/** Notes that OpenClaw has indexed, of all agents; undefined if unknown. */
export function indexedNotes(status: Json | undefined): number | undefined {
  if (!Array.isArray(status)) return undefined;
  return status.reduce<number>((sum, agent) => sum + filesOf(agent), 0);
}

function filesOf(agent: Json): number {
  const files = at(agent, "status", "files");
  return typeof files === "number" ? files : 0;
}

/** Of OpenClaw's reason for a mismatch. */
const BUILT_FOR = /built for (?:model|provider) (.+), expected/;
const KEYWORDS: ReadonlySet<string> = new Set(["fts-only", "none"]);

/**
 * An index for keyword search matches an agent without a provider, although OpenClaw reports a mismatch until it has tried one.
 * Any other index does not match, even without notes and vectors: OpenClaw refuses to add to it.
 */
function fits(index: Json | undefined, isChosen: boolean): boolean {
  if (!isObject(index)) return true; // this agent does not search notes
  const identity = at(index, "custom", "indexIdentity");
  if (at(identity, "status") === "valid") return true;
  if (isChosen) return false;
  const builtFor = BUILT_FOR.exec(String(at(identity, "reason")))?.[1];
  return builtFor === undefined ? at(index, "vector", "dims") === undefined : KEYWORDS.has(builtFor);
}

function chosenFor(agentId: string, config: Json | undefined): boolean {
  const own = at(config, "agents", "entries", agentId, "memory", "search", "provider");
  const provider = own ?? at(config, "memory", "search", "provider");
  return typeof provider === "string" && provider !== "" && provider !== "auto";
}
