/**
 * The packs for memory itself, one for each of its tools.
 *
 * None leaves an audit row. For store and forget, as in helmdeck, a record would outlive the stored or forgotten entry. The
 * others only read; their rows would appear in the corpus, so that reading memory would fill it.
 */

import { MEMORY_TOOLS, type Memory, type MemoryTool } from "../../app/memory.ts";
import { operationOf, perform } from "../../app/operations/index.ts";
import { definePack } from "../engine/define-pack.ts";
import type { Pack } from "../engine/pack-contract.ts";

/** All of them, for one memory. */
export function memoryPacks(memory: Memory): readonly Pack[] {
  return MEMORY_TOOLS.map((tool) => memoryPack(tool, memory));
}

/** `helmdeck.memory_search` and the like. */
export function memoryPack(name: MemoryTool, memory: Partial<Memory>): Pack {
  const operation = operationOf(name);
  const { tool } = operation;
  return definePack({
    name: `helmdeck.memory_${name}`,
    version: tool.version ?? "1.0.0",
    title: tool.title,
    description: tool.description ?? operation.description ?? operation.summary,
    input: tool.input,
    output: tool.reply ?? operation.reply,
    effects: operation.effects,
    audit: false,
    run: ({ caller }, input) => perform(operation, memory, caller, input, { surface: "pack", agent: caller }),
  });
}
