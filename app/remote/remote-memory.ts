/** A remote memory, which another process keeps: the supported use cases, and a clear refusal for the others. */
import type { HelmdeckError } from "../../engine/errors.ts";
import type { UnixMs } from "../../engine/store/memory-store.ts";
import type { CommandMemory } from "../compose.ts";
import { type Memory, memoryFrom, type UseCase } from "../memory.ts";

export interface RemoteMemory extends CommandMemory {
  /** Why nothing can be done here that needs its store. */
  readonly refusal: HelmdeckError;
}

export interface RemoteMemoryParts {
  readonly now: () => UnixMs;
  /** Absent for functions that only a command line has. */
  readonly refusal: (name?: UseCase) => HelmdeckError;
}

export function remoteMemory(able: Partial<Memory>, { now, refusal }: RemoteMemoryParts): RemoteMemory {
  const refuse = async (): Promise<never> => {
    throw refusal();
  };
  return {
    ...memoryFrom((name) => able[name] ?? (() => Promise.reject(refusal(name)))),
    ...{ now, storeFactAllowingSecret: refuse, embed: refuse, embedFact: refuse, refusal: refusal() },
  };
}
