/** Encodes and decodes the space: everything that a vector depends on, in one name. */
import { jsonOf } from "../engine/json.ts";
import type { EmbedderSettings, Prefixes } from "./embedding-service.ts";

const ALL = "all";

export function spaceOf(
  model: string,
  dimensions: number | undefined,
  { query, document }: Prefixes,
): string {
  return JSON.stringify([model, dimensions ?? ALL, query, document]);
}

/** An embedder's settings for this space; undefined for a name that we did not create. */
export function settingsOfSpace(
  space: string,
): Pick<EmbedderSettings, "model" | "dimensions" | "prefixes"> | undefined {
  const parts = jsonOf(space);
  if (!Array.isArray(parts) || parts.length !== 4) return undefined;
  const [model, dimensions, query, document]: readonly unknown[] = parts;
  if (typeof model !== "string" || typeof query !== "string" || typeof document !== "string")
    return undefined;
  const settings = { model, prefixes: { query, document } };
  if (dimensions === ALL) return settings;
  return typeof dimensions === "number" ? { ...settings, dimensions } : undefined;
}
