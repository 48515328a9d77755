/** The before_tool_call hook: a search that names no corpus asks helmdeck too, and our paths are read where they are. */
import { PATH_PREFIX } from "./boundary.ts";
import { isRecord } from "./unchecked.ts";

/** The tools that the hook is called for. */
export const ROUTED_TOOLS = ["memory_search", "memory_get"] as const;
export const HOOK_TIMEOUT_MS = 1_000;

/**
 * The changed parameters, or undefined to leave the call alone. A throwing or slow hook blocks the tool, so this looks at
 * nothing but its argument and never throws, whatever that is.
 */
export function routeToolCall(
  event: unknown,
  options: { readonly searchByDefault: boolean },
): { params: Record<string, unknown> } | undefined {
  try {
    if (!isRecord(event) || !isRecord(event.params)) return undefined;
    const corpus = corpusFor(event.toolName, event.params, options.searchByDefault);
    return corpus === undefined ? undefined : { params: { ...event.params, corpus } };
  } catch {
    return undefined;
  }
}

function corpusFor(
  toolName: unknown,
  params: Readonly<Record<string, unknown>>,
  searchByDefault: boolean,
): "all" | "wiki" | undefined {
  // A model may fill in every parameter it knows of, with nothing.
  const isUnnamed = params.corpus === undefined || params.corpus === null || params.corpus === "";
  if (toolName === "memory_search") return searchByDefault && isUnnamed ? "all" : undefined;
  if (toolName !== "memory_get") return undefined;
  const isOurs = typeof params.path === "string" && params.path.startsWith(PATH_PREFIX);
  // Any other corpus finds nothing under our prefix, or finds it with a warning about OpenClaw's own files.
  return isOurs && params.corpus !== "wiki" ? "wiki" : undefined;
}
