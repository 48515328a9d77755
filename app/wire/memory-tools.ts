/** The names of memory's own tools, without a server's prefix, in the order in which clients show them. */
export const MEMORY_TOOLS = [
  ...(["search", "get", "store", "list", "forget"] as const),
  ...(["history", "undo", "renew", "corpus"] as const),
] as const;

export type MemoryTool = (typeof MEMORY_TOOLS)[number];
