/** Names that a wrong join, escape, comparison or case folding would confuse. */
import { harmlessLine } from "../../engine/facts/hostile-text.ts";

export const HOSTILE_NAMES: readonly string[] = [
  "a",
  "A",
  "á",
  "a\u0301",
  "a:b",
  "a%3Ab",
  "a%253Ab",
  "a:",
  ":a",
  "a%",
  "a%25",
  "a_",
  "a*",
  "%",
  "_",
  ":",
  "::",
  "a/b",
  "a\\b",
  "../a",
  "a\u0000",
  "a\u0000b",
  "a ",
  " a",
  "a\n",
  "a'",
  'a"',
  "a--",
  "main",
  "unknown",
  "mem_0",
  "日本",
  "🦆",
  "\u202ea",
  "a".repeat(512),
];

/**
 * Whether tokens, the command line and OpenClaw's configuration accept the name. Other names only reach use cases and the store.
 */
export function isTakenEverywhere(name: string): boolean {
  return name === name.trim() && name.length <= 128 && harmlessLine(name) === name;
}
