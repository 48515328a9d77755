/** A `Memory` that records its calls. Every method fails unless the test defines its answer. */

import { type Memory, type MemoryStatus, memoryFrom } from "../../app/memory.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import type { MemoryAccess } from "../../plugin/memory-access.ts";
import type { RecallHit } from "../../recall/search-contract.ts";

export const READY: MemoryStatus = {
  state: "ready",
  databasePath: "/state/helmdeck-memory/memory.sqlite",
  keySource: "/state/helmdeck-memory.key",
  driver: "node:sqlite",
  mode: "keyword",
  subject: { name: "main", facts: 2, auditRows: 1 },
};

export const HIT: RecallHit = {
  ...{ kind: "fact", category: "user_facts", key: "deploy", docid: "user_facts/deploy", title: "deploy" },
  ...{ path: "helmdeck/user_facts/deploy.md", score: 0.9, snippet: "always via Konflux" },
  ...{ startLine: 3, endLine: 3, createdAt: 1_000_000_000_000, updatedAt: 1_000_000_000_000 },
};

export interface FakeMemory extends Memory {
  readonly calls: readonly { readonly method: string; readonly args: readonly unknown[] }[];
}

export function fakeMemory(answers: Partial<Memory> = {}): FakeMemory {
  const calls: { method: string; args: readonly unknown[] }[] = [];
  const useCase = <Method extends keyof Memory>(method: Method): Memory[Method] => {
    const answer = async (...args: readonly unknown[]) => {
      calls.push({ method, args });
      const given = answers[method] as ((...args: readonly unknown[]) => unknown) | undefined;
      if (given === undefined) throw new HelmdeckError("internal", `The test did not expect ${method}.`);
      return given(...args);
    };
    return answer as unknown as Memory[Method]; // the test chooses an answer of the right type
  };
  return { calls, ...memoryFrom(useCase) };
}

/** Access to a working memory or, if given an error, to one that does not open. */
export function accessTo(memory: Memory | Error): MemoryAccess {
  return {
    open: async () => {
      if (memory instanceof Error) throw memory;
      return memory;
    },
    close: async () => {},
    dispose: async () => {},
  };
}

/** Never resolves. */
export function hanging(): Promise<never> {
  return new Promise(() => {});
}
