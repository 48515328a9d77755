/**
 * The packs for memory itself, one for each of its tools.
 *
 * None leaves an audit row. For store and forget, as in helmdeck, a record would outlive the stored or forgotten entry. The
 * others only read; their rows would appear in the corpus, so that reading memory would fill it.
 */
import * as z from "zod";
import { MEMORY_TOOLS, type Memory, type MemoryTool } from "../../app/memory.ts";
import { operationOf, perform } from "../../app/operations/index.ts";
import { toWire } from "../../app/wire/codec.ts";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { isRecord } from "../../engine/json.ts";
import type { Subject } from "../../engine/store/namespace.ts";
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
    input: name === "get" ? z.preprocess(pathAsKey, tool.input) : tool.input,
    output: tool.reply ?? operation.reply,
    effects: operation.effects,
    ...defined({ pages: tool.pages }),
    audit: false,
    run: async ({ caller }, input) => {
      const given = name === "undo" ? await undoable(memory, caller, input) : input;
      const performed = perform(operation, memory, caller, given, { surface: "pack", agent: caller });
      return name === "get" ? performed.catch(orRecord(memory, caller, input)) : performed;
    },
  });
}

/** A model that read a hit's path gives it under that name, as to OpenClaw's memory_get. */
function pathAsKey(given: unknown): unknown {
  return isRecord(given) ? { ...given, key: given.key ?? given.path } : given;
}

/** A hit may also be the record of a run, which is no fact. */
function orRecord(memory: Partial<Memory>, caller: Subject, { key = "" }: { readonly key?: string }) {
  return async (failure: unknown) => {
    const isMissing = isHelmdeckError(failure) && failure.code === "not_found";
    const found = isMissing ? await memory.readDocument?.(caller, { path: key }) : undefined;
    if (found?.entry === undefined) throw failure;
    const { entry, path, content, truncated } = found;
    return toWire({ ...entry, value: content, path, ...(truncated && { incomplete: true }) });
  };
}

/** As JSON, of what an answer over MCP has room for twice. */
const MOST_UNDONE_BYTES = 14_000;

/** Only the answer keeps an undone value, so a value that is too long for one stays. Throws `too_large`. */
async function undoable(memory: Partial<Memory>, caller: Subject, input: { readonly key?: string }) {
  const fact = await memory.getFact?.(caller, { key: String(input.key) });
  if (fact === undefined) return input;
  if (Buffer.byteLength(JSON.stringify(fact.value)) <= MOST_UNDONE_BYTES)
    return { ...input, ...defined({ if_revision: fact.revision }) };
  throw new HelmdeckError(
    "too_large",
    "The value to undo is too long for an answer, which alone would keep it; a person can run: helmdeck-memory undo <key>.",
  );
}
