/** The before_tool_call hook: adds helmdeck to searches that name no corpus, and routes reads of our paths to our corpus. */
import { PATH_PREFIX } from "./boundary.ts";
import { isRecord } from "./unchecked.ts";

/** The tools for which the hook is called. */
export const ROUTED_TOOLS = ["memory_search", "memory_get"] as const;
export const HOOK_TIMEOUT_MS = 1_000;

/**
 * The changed parameters, or undefined to leave the call unchanged. A throwing or slow hook blocks the tool, so this reads
 * only its argument and never throws.
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
  // A model may fill in every known parameter with an empty value.
  const isUnnamed = params.corpus === undefined || params.corpus === null || params.corpus === "";
  if (toolName === "memory_search") return searchByDefault && isUnnamed ? "all" : undefined;
  if (toolName !== "memory_get") return undefined;
  const isOurs = typeof params.path === "string" && params.path.startsWith(PATH_PREFIX);
  // Any other corpus finds nothing under our prefix, or adds a warning about OpenClaw's own files.
  return isOurs && params.corpus !== "wiki" ? "wiki" : undefined;
}
