/** Texts of tidying: what a review found, and the commands that settle it. */
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { importsOf } from "../../engine/facts/import-tag.ts";
import { writerText } from "../../engine/projections/frame.ts";
import type { FactView, Review, ReviewFinding, ReviewKind } from "../memory.ts";
import { counted, isCopyable, shellWord } from "./words.ts";

const NAMES: Readonly<Record<ReviewKind, readonly [one: string, many: string]>> = {
  duplicate: ["duplicate", "duplicates"],
  conflict: ["conflict", "conflicts"],
  near: ["near-copy", "near-copies"],
  similar: ["pair of similar facts", "pairs of similar facts"],
  expiring: ["fact that expires soon", "facts that expire soon"],
};

/** `3 duplicates, 1 conflict`; empty when nothing was found. */
export function foundText(found: Review["found"]): string {
  const kinds = Object.entries(NAMES) as readonly [ReviewKind, (typeof NAMES)[ReviewKind]][]; // its own names
  const counts = kinds.filter(([kind]) => found[kind] > 0);
  return counts.map(([kind, [one, many]]) => counted(found[kind], one, many)).join(", ");
}

export const NOTHING_TO_TIDY =
  "Nothing to tidy up: no duplicates, no conflicts, and nothing expires within 14 days.";

export function findingTitle({ kind, facts }: ReviewFinding): string {
  switch (kind) {
    case "duplicate":
      return `The same under ${facts.length} keys`;
    case "conflict":
      return "These contradict each other";
    case "near":
      return "Nearly the same, from different sources";
    case "similar":
      return "These are about the same thing";
    case "expiring":
      return "This expires soon";
  }
}

/** `import mem0-2026-11-20-1c9a`, or who stored it; empty when unknown. */
export function sourceText({ tags, writer }: Pick<FactView, "tags" | "writer">): string {
  const [id] = importsOf(tags);
  if (id !== undefined) return `import ${id}`;
  return writer === undefined ? "" : writerText(writer, "person");
}

/** What merging, keeping both and forgetting would do, for a person who then agrees. */
export function mergePreview(fact: FactView, others: readonly FactView[]): string {
  const names = others.map(({ key }) => harmlessLine(key)).join(", ");
  const history = others.length === 1 ? "becomes its history" : "become its history";
  const pins = others.filter(({ pinned }) => pinned).map(({ key }) => harmlessLine(key));
  const lost =
    pins.length === 0 ? "" : ` The pin of ${pins.join(", ")} ends, and an undo does not bring it back.`;
  return `${harmlessLine(fact.key)} stays; ${names} ${history}.${lost}`;
}

export function apartPreview(facts: readonly FactView[]): string {
  const all = facts.length === 2 ? "Both" : `All ${facts.length}`;
  return `${all} stay as they are, and are not shown again until one of them gets another value.`;
}

type Named = Pick<FactView, "key" | "path">;

/** How a fact is named in a shell: by its path if the key cannot be copied unchanged. */
export function nameInShell({ key, path }: Named): string {
  return shellWord(isCopyable(key) ? key : path);
}

/** The arguments of `tidy` that do it, as a person types them. */
export function keepArguments(fact: Named, others: readonly Named[], upTo: number): string {
  return `tidy --keep ${nameInShell(fact)} --over ${others.map(nameInShell).join(" ")} --up-to ${upTo}`;
}

export function apartArguments(facts: readonly Named[], upTo: number): string {
  return `tidy --apart ${facts.map(nameInShell).join(" ")} --up-to ${upTo}`;
}

export function againArguments(facts: readonly Named[]): string {
  return `tidy --ask-again ${facts.map(nameInShell).join(" ")}`;
}
