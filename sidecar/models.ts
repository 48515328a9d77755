/**
 * Known embedding models by name: the prefixes that they were trained with, and their context. The data is in
 * embedding-models.json, with sources and whether each was tested here. A space
 * is everything that a vector depends on, in one name.
 */
import { defined } from "../engine/defined.ts";
import { jsonOf } from "../engine/json.ts";
import models from "./embedding-models.json" with { type: "json" };
import type { EmbedderSettings, Prefixes } from "./embedding-service.ts";

interface ModelProfile {
  readonly prefixes: Prefixes;
  /** The model card's context, or less when Ollama runs the model with less. */
  readonly contextTokens: number;
  /** The only language that the model knows, if that was tried. */
  readonly language?: "english";
}

interface KnownModel extends ModelProfile {
  readonly pattern: RegExp;
}

/** Order matters: the first pattern that matches the name, without namespace and tag, applies. */
const KNOWN: readonly KnownModel[] = models.map(({ pattern, query, document, contextTokens, language }) => {
  const profile = { pattern: new RegExp(pattern), prefixes: { query, document }, contextTokens };
  return language === "english" ? { ...profile, language } : profile;
});

const UNKNOWN: ModelProfile = { prefixes: { query: "", document: "" }, contextTokens: 2_048 };

export function profileOf(model: string): ModelProfile {
  const last = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  const base = last.replace(/:.*$/s, "");
  const { prefixes, contextTokens, language } = KNOWN.find(({ pattern }) => pattern.test(base)) ?? UNKNOWN;
  return { prefixes, contextTokens, ...defined({ language }) };
}

/** The name as Ollama lists it: without the default registry and namespace, with the default tag. */
export function ollamaName(model: string): string {
  const name = model
    .trim()
    .replace(/^(https?:\/\/)?registry\.ollama\.ai\//i, "")
    .replace(/^library\//i, "");
  return name.slice(name.lastIndexOf("/") + 1).includes(":") ? name : `${name}:latest`;
}

/** Ollama's model names are case-insensitive. */
export function isSameOllamaModel(one: string, other: string): boolean {
  return ollamaName(one).toLowerCase() === ollamaName(other).toLowerCase();
}

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
