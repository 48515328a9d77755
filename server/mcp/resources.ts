/** The resources of every caller: their stored entries, and the defaults learnt from their past runs. */
import type { Resource } from "@modelcontextprotocol/sdk/types.js";
import type { Memory } from "../../app/memory.ts";
import { toWire } from "../../app/wire/codec.ts";

export interface McpResource {
  readonly definition: Resource & { readonly mimeType: "application/json" };
  /** The content as JSON, always for the caller's own subject. */
  read(memory: Memory, subject: string): Promise<unknown>;
}

export const MCP_RESOURCES: readonly McpResource[] = [
  {
    definition: {
      uri: "helmdeck://my-memory",
      name: "my-memory",
      title: "What my memory holds",
      description:
        "Categories of what is stored for you, how many entries each has, and its five newest keys; no values. " +
        "Look here before storing, so that a fact is replaced and not told twice.",
      mimeType: "application/json",
    },
    read: async (memory, subject) => toWire(await memory.myMemory(subject)),
  },
  {
    definition: {
      uri: "helmdeck://my-defaults",
      name: "my-defaults",
      title: "What I usually ask for",
      description:
        "Learnt from your past runs of packs and pipelines: the usual inputs of each, common findings, recent runs. " +
        "Use them where a person leaves a choice open.",
      mimeType: "application/json",
    },
    read: (memory, subject) => memory.defaults(subject),
  },
];

export function resourceAt(uri: string): McpResource | undefined {
  return MCP_RESOURCES.find(({ definition }) => definition.uri === uri);
}
