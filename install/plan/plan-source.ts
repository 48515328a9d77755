/** Plans the memory's source: this host, unless the operator names an engine or named one before. */
import { isDeepStrictEqual } from "node:util";
import type { OpenClawReady } from "../installation-facts.ts";
import type { Options } from "../options.ts";
import type { Step } from "../steps/registry.ts";

export interface SourcePlan {
  readonly steps: readonly Step[];
  /** The engine that keeps memory after the plan; undefined: this host. */
  readonly engineUrl: string | undefined;
}

export function planSource({ configPath, engine }: OpenClawReady, options: Options): SourcePlan {
  const wanted = options.engine;
  if (wanted === undefined) return { steps: [], engineUrl: engine?.url };
  const isRight = isDeepStrictEqual({ ...engine }, { ...wanted });
  const steps = isRight ? [] : [{ kind: "point-source", configPath, ...wanted } as const];
  return { steps, engineUrl: wanted.url };
}
