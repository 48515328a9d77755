/**
 * What is known about embedding models by name: the prefixes that they were trained with, and how much they read. It stands in
 * embedding-models.json, each with its source and whether it was run here.
 */

import models from "./embedding-models.json" with { type: "json" };
import type { Prefixes } from "./embedding-service.ts";

export interface ModelProfile {
  readonly prefixes: Prefixes;
  /** How much it reads: from its card, or less where Ollama runs it with less. */
  readonly contextTokens: number;
}

interface KnownModel extends ModelProfile {
  readonly pattern: RegExp;
}

/** The data file's order counts: the first that matches the name without namespace and tag. */
const KNOWN: readonly KnownModel[] = models.map(({ pattern, query, document, contextTokens }) => {
  return { pattern: new RegExp(pattern), prefixes: { query, document }, contextTokens };
});

const UNKNOWN: ModelProfile = { prefixes: { query: "", document: "" }, contextTokens: 2_048 };

export function profileOf(model: string): ModelProfile {
  const base = baseNameOf(model);
  const { prefixes, contextTokens } = KNOWN.find(({ pattern }) => pattern.test(base)) ?? UNKNOWN;
  return { prefixes, contextTokens };
}

/** As Ollama lists it: the registry and namespace that it assumes left out, the tag that it assumes written out. */
export function ollamaName(model: string): string {
  const name = model
    .trim()
    .replace(/^(https?:\/\/)?registry\.ollama\.ai\//i, "")
    .replace(/^library\//i, "");
  return name.slice(name.lastIndexOf("/") + 1).includes(":") ? name : `${name}:latest`;
}

/** Ollama does not tell upper and lower case apart in names. */
export function isSameOllamaModel(one: string, other: string): boolean {
  return ollamaName(one).toLowerCase() === ollamaName(other).toLowerCase();
}

function baseNameOf(model: string): string {
  const last = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return last.replace(/:.*$/s, "");
}
