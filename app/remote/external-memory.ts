/** A memory in another process: the supported use cases, and a clear refusal for the others. */
import type { HelmdeckError, UnixMs } from "../../engine/index.ts";
import type { OpenMemory } from "../compose.ts";
import { type Memory, memoryFrom, type UseCase } from "../memory.ts";

export interface ExternalMemoryParts {
  readonly now: () => UnixMs;
  /** Absent for functions that only a command line has. */
  readonly refusal: (name?: UseCase) => HelmdeckError;
}

export function externalMemory(able: Partial<Memory>, { now, refusal }: ExternalMemoryParts): OpenMemory {
  const refuse = async (): Promise<never> => {
    throw refusal();
  };
  return {
    ...memoryFrom((name) => able[name] ?? (() => Promise.reject(refusal(name)))),
    ...{ now, storeFactAllowingSecret: refuse, embed: refuse, embedFact: refuse },
    get store(): never {
      throw refusal();
    },
  };
}
