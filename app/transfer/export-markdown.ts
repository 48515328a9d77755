/**
 * Exports a subject's facts as Markdown, readable for people and exact for `import --from markdown`. Values are in plain text,
 * each line behind "> ", so that none can be mistaken for other Markdown; a value that would affect a terminal or lose its line
 * breaks is written as JSON. Records of runs and histories are exported as JSON Lines only.
 */

import { isUtf8 } from "node:buffer";
import { harmlessBlock, harmlessLine } from "../../engine/facts/hostile-text.ts";
import { pagesOf } from "../../engine/pages-of.ts";
import type { Entry, MemoryStore } from "../../engine/store/memory-store.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import { factView } from "../fact-view.ts";
import { formerKeys } from "../history.ts";
import { escapeJson, safeJson } from "../presenters/safe-json.ts";
import { requireNamespace } from "../subject.ts";
import { toWire } from "../wire/codec.ts";
import type { ExportOptions } from "./export-lines.ts";
import { escapedKey, MARKDOWN_FIELDS, MARKDOWN_MARK } from "./markdown-marks.ts";

const PAGE_FACTS = 50;

/** Parts of the file with their line breaks; one per fact, and one per heading. */
export async function* exportMarkdown(options: Omit<ExportOptions, "withHistory">): AsyncGenerator<string> {
  const { memory, subject, onProgress } = options;
  const namespace = requireNamespace(subject);
  const categories = (await memory.store.categories(namespace)).filter(({ origin }) => origin === "fact");
  const total = categories.reduce((sum, { count }) => sum + count, 0);
  let done = 0;
  yield `${MARKDOWN_MARK}\n\n# Facts of ${harmlessLine(subject)}\n`;
  for (const { category } of categories) {
    yield `\n## ${category}\n`;
    for await (const fact of factsOf(memory.store, namespace, category, options.onProblem)) {
      yield `\n${fact}`;
      done += 1;
      onProgress?.(Math.min(done, total), total);
    }
  }
}

export interface NotInMarkdown {
  /** Records of packs, pipelines and tools. */
  readonly runs: number;
  /** Former values of facts. */
  readonly former: number;
}

/** Counts what only JSON Lines can hold. Decrypts histories only. */
export async function countNotInMarkdown({
  memory: { store },
  subject,
}: Pick<ExportOptions, "memory" | "subject">): Promise<NotInMarkdown> {
  const namespace = requireNamespace(subject);
  let former = 0;
  for await (const _ of formerKeys(store, namespace)) former += 1;
  return { runs: await store.countWhere({ namespace, origins: ["audit"] }), former };
}

async function* factsOf(
  store: MemoryStore,
  namespace: Namespace,
  category: string,
  onProblem: ExportOptions["onProblem"],
): AsyncGenerator<string> {
  const query = { namespace, origin: "fact", category, limit: PAGE_FACTS } as const;
  for await (const page of pagesOf((more) => store.list({ ...query, ...more }))) {
    for (const { origin, key } of page.unreadable) {
      const reason = "cannot be opened: changed, or encrypted with another key";
      onProblem({ origin, key, code: "entry_unreadable", reason });
    }
    for (const entry of page.entries) {
      const reason = whyNot(entry);
      if (reason === undefined) yield factText(entry);
      else onProblem({ origin: "fact", key: entry.key, code: "invalid_input", reason });
    }
  }
}

function whyNot({ key, value }: Entry): string | undefined {
  if (!isUtf8(value)) return "is not valid text";
  return harmlessLine(key) === key
    ? undefined
    : "has a key with an invisible character; export it as JSON Lines";
}

function factText(entry: Entry): string {
  const fact = toWire(factView(entry));
  const fields = MARKDOWN_FIELDS.flatMap(({ name, field, isJson }) => {
    const said = fact[field];
    const isEmpty = said === undefined || (Array.isArray(said) && said.length === 0);
    return isEmpty ? [] : [`- ${name}: ${isJson ? safeJson(said) : said}`];
  });
  return `### ${escapedKey(fact.key)}\n\n${fields.join("\n")}\n\n${valueText(fact.value)}\n`;
}

function valueText(value: string): string {
  if (harmlessBlock(value) !== value) return `\`\`\`json\n${escapeJson(JSON.stringify(value))}\n\`\`\``;
  return value
    .split("\n")
    .map((line) => (line === "" ? ">" : `> ${line}`))
    .join("\n");
}
