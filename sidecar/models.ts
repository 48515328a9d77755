/** What is known about embedding models by name: the prefixes that they were trained with, and how much they read. */
import type { Prefixes } from "./embedding-service.ts";

export interface ModelProfile {
  readonly prefixes: Prefixes;
  /** How much it reads: from its card, or less where Ollama runs it with less. */
  readonly contextTokens: number;
}

const NONE: Prefixes = { query: "", document: "" };
const SEARCH: Prefixes = { query: "search_query: ", document: "search_document: " };
const SENTENCE: Prefixes = {
  query: "Represent this sentence for searching relevant passages: ",
  document: "",
};
const E5: Prefixes = { query: "query: ", document: "passage: " };
const ARCTIC_2: Prefixes = { query: "query: ", document: "" };
const GEMMA: Prefixes = { query: "task: search result | query: ", document: "title: none | text: " };
const TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\n";
const INSTRUCT: Prefixes = { query: `${TASK}Query: `, document: "" };
const QWEN_3: Prefixes = { query: `${TASK}Query:`, document: "" };

/** From the models' own cards; the first that matches the name without namespace and tag. */
const PROFILES: readonly (readonly [RegExp, Prefixes, number])[] = [
  [/^nomic-embed-text-v2/, SEARCH, 512],
  [/^nomic-embed-text/, SEARCH, 2_048],
  [/^mxbai-embed-large/, SENTENCE, 512],
  [/^snowflake-arctic-embed2|^snowflake-arctic-embed-.*v2/, ARCTIC_2, 8_192],
  [/^snowflake-arctic-embed/, SENTENCE, 512],
  [/^bge-m3/, NONE, 8_192],
  [/^bge-.*zh/, { query: "为这个句子生成表示以用于检索相关文章：", document: "" }, 512],
  [/^bge-/, SENTENCE, 512],
  [/e5-.*(instruct|mistral)/, INSTRUCT, 512],
  [/^(multilingual-)?e5-/, E5, 512],
  [/^embeddinggemma/, GEMMA, 2_048],
  [/^qwen3-embedding/, QWEN_3, 8_192],
  [/^gte-qwen/, INSTRUCT, 8_192],
  [/^gte-/, NONE, 512],
  [/^all-minilm/, NONE, 256],
  [/^paraphrase-multilingual/, NONE, 128],
  [/^granite-embedding/, NONE, 512],
  [/^text-embedding-(3|ada)/, NONE, 8_191],
];

const UNKNOWN: ModelProfile = { prefixes: NONE, contextTokens: 2_048 };

export function profileOf(model: string): ModelProfile {
  const base = baseNameOf(model);
  const [, prefixes, contextTokens] = PROFILES.find(([pattern]) => pattern.test(base)) ?? [];
  return prefixes && contextTokens ? { prefixes, contextTokens } : UNKNOWN;
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
