/** Plans the memory's source: this host, unless the operator names an engine or named one before. */
import { isDeepStrictEqual } from "node:util";
import type { EngineChoice, Facts, OpenClawReady } from "../installation-facts.ts";
import type { Options } from "../options.ts";
import type { Step } from "../steps/registry.ts";

export interface SourcePlan {
  readonly steps: readonly Step[];
  /** The engine that keeps memory after the plan; undefined: this host. */
  readonly engineUrl: string | undefined;
  readonly kept: readonly string[];
}

export function planSource(
  { configPath, engine }: OpenClawReady,
  { journal }: Facts,
  options: Options,
): SourcePlan {
  const wanted = options.engine;
  if (wanted === undefined) {
    const isOurs = engine !== undefined && journal.source !== undefined;
    return { steps: [], engineUrl: engine?.url, kept: isOurs ? optionsFor(engine) : [] };
  }
  const isRight = isDeepStrictEqual({ ...engine }, { ...wanted });
  const steps = isRight ? [] : [{ kind: "point-source", configPath, ...wanted } as const];
  return { steps, engineUrl: wanted.url, kept: [] };
}

function optionsFor({ url, tokens, fingerprint256 }: EngineChoice): readonly string[] {
  const files = Object.entries(tokens).map(([agent, file]) => `--token-file ${agent}=${file}`);
  const pinned = fingerprint256 === undefined ? [] : [`--engine-fingerprint ${fingerprint256}`];
  return [`--engine ${url}`, ...files, ...pinned];
}
