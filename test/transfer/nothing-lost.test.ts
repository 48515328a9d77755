/** Of each import format, a table of what a file may contain: in any order and damaged in any way, each word of it is in an item, or in a place that is named. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ImportFormat } from "../../app/transfer/formats/names.ts";
import { READERS } from "../../app/transfer/formats/readers.ts";
import { jsonOf } from "../../engine/json.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { NOW } from "../app/fixtures/memories.ts";
import { textFile } from "./notes.ts";

/** Makes the words of a part, each of them once in a file. */
type Words = () => string;
type Parts = Readonly<Record<string, (w: Words) => unknown>>;

const SIGNS = [
  "-",
  "*",
  "+",
  "1.",
  "2)",
  "•",
  "–",
  "—",
  "▪",
  "-\u00A0",
  "•\u00A0",
  "\u00A0\u00A0\u00A0\u00A0•",
  "\t•",
  "    –",
];
const MARKDOWN: Parts = {
  ...Object.fromEntries(
    SIGNS.map((sign) => [`items after ${sign}`, (w: Words) => `${sign} ${w()}\n${sign} ${w()}`]),
  ),
  "items without a blank": (w) => `•${w()}\n•${w()}`,
  "nested items": (w) => `- ${w()}\n  - ${w()}\n    ${w()}\n\n  ${w()}`,
  paragraph: (w) => `${w()} ${w()}\n${w()}`,
  "items after an introduction": (w) => `${w()}:\n- ${w()}`,
  "a long introduction": (w) => `${"very long ".repeat(9)}${w()}:\n- ${w()}`,
  "a heading": (w) => `## ${w()}`,
  "a long heading": (w) => `### ${"very long ".repeat(9)}${w()}`,
  "a title": (w) => `# ${w()}`,
  "an underlined text": (w) => `${w()}\n---`,
  "an underlined paragraph": (w) => `${w()}\n${w()}\n---`,
  "an underlined title": (w) => `${w()}\n=====`,
  "front matter": (w) => `---\ntitle: ${w()}\ncategory: work\nlist:\n  - ${w()}\n---`,
  "text between rules": (w) => `---\nallergic to: ${w()}\n${w()}\n---`,
  rule: () => "---",
  "an entry with a day": (w) => `[2026-03-01] - ${w()}\n${w()}`,
  "entries without a day": (w) =>
    `[unknown] - ${w()}\n[May 2024] - ${w()}\n[2024-02-30] - ${w()}\n[2099-01-01] - ${w()}`,
  "listed entries": (w) => `1. [2026-03-01]. ${w()}\n2. **[2026-03-02]** - ${w()}`,
  "a definition": (w) => `[docs]: https://example.org/${w()} "${w()}"`,
  "a note like a definition": (w) => `[allergy]: ${w()}`,
  comment: (w) => `<!-- ${w()}\n${w()} -->`,
  "a comment in a line": (w) => `${w()} <!-- ${w()}\n${w()} --> ${w()}`,
  "a comment in an item": (w) => `- ${w()}\n  ${w()} <!-- ${w()} -->`,
  code: (w) => `\`\`\`sh\n# ${w()}\n- ${w()}\n\`\`\``,
  "indented code": (w) => `\n    ${w()}\n    ${w()}\n`,
  "an answer": (w) => `\`\`\`text\n## ${w()}\n[2026-03-01] - ${w()}\n[2026-03-02] - ${w()}\n${w()}\n\`\`\``,
  "an open answer": (w) => `\`\`\`\n**${w()}**\n- [2026-03-01] - ${w()}`,
  table: (w) => `| ${w()} | ${w()} |\n|---|---|\n| ${w()} | ${w()} |`,
  quote: (w) => `> ${w()}\n> - ${w()}\n${w()}`,
  html: (w) => `<div>\n${w()}\n</div>`,
  "odd blanks": (w) => `\u3000${w()}\n\u00A0\n\u00A0\u00A0\u00A0\u00A0\u00A0${w()}`,
};

const GRAPH: Parts = {
  entity: (w) => ({ type: "entity", name: w(), entityType: "person", observations: [w(), w()] }),
  "an entity without a type": (w) => ({ name: w(), entityType: "person", observations: [w()] }),
  "observations without a name": (w) => ({ type: "entity", observations: [w()] }),
  "no observations": (w) => ({ type: "entity", name: w(), entityType: "person", observations: null }),
  "one observation": (w) => ({ name: w(), entityType: null, observations: w() }),
  "odd observations": (w) => ({
    name: w(),
    observations: [1, null, "", w(), { content: w(), at: w() }, [w()], { [w()]: w() }],
  }),
  "odd types": (w) => ({ type: 7, name: { first: w() }, entityType: [w()], observations: { text: w() } }),
  relation: (w) => ({ type: "relation", from: w(), to: w(), relationType: w() }),
  "half a relation": (w) => ({ type: "relation", from: w(), relationType: w() }),
  "other fields": (w) => ({
    type: "entity",
    name: w(),
    entityType: "person",
    observations: [],
    notes: [w()],
  }),
  "something else": (w) => ({ [w()]: w() }),
  text: (w) => w(),
};

const MEM0: Parts = {
  memory: (w) => ({
    id: w(),
    memory: w(),
    categories: [w()],
    user_id: w(),
    created_at: "2026-01-31T12:00:00Z",
  }),
  "OpenMemory's": (w) => ({ id: w(), content: w(), state: "active", app: w(), created_at: 1_769_860_800 }),
  "a deleted one": (w) => ({ id: w(), content: w(), state: "deleted" }),
  "odd types": (w) => ({
    id: 7,
    memory: w(),
    categories: w(),
    metadata: { a: w(), b: [w()], c: `${"x".repeat(300)} ${w()}` },
    updated_at: w(),
  }),
  "no text": (w) => ({ id: w(), memory: { text: w() } }),
  "other fields": (w) => ({ memory: w(), notes: w() }),
  "something else": (w) => ({ [w()]: w() }),
  text: (w) => w(),
};

/** How the parts of JSON may stand in a file. */
const LAYOUTS: Readonly<Record<string, (parts: readonly unknown[], list: string) => string>> = {
  lines: (parts) => parts.map((part) => JSON.stringify(part)).join("\n"),
  "two on a line": (parts) =>
    parts.map((part, at) => JSON.stringify(part) + (at % 2 === 0 ? " " : "\n")).join(""),
  "a list": (parts) => JSON.stringify(parts, null, 2),
  "one line": (parts, list) => JSON.stringify({ [list]: parts }),
  "an object": (parts, list) => JSON.stringify({ [list]: parts }, null, 2),
  "a list with a comma too many": (parts) => JSON.stringify(parts, null, 2).replace(/\n?]$/, ",\n]"),
};

const DAMAGE: Readonly<Record<string, (text: string, at: number) => string>> = {
  none: (text) => text,
  "cut short": (text, at) => text.slice(0, at % (text.length + 1)),
  "a joined line": (text, at) => {
    const lines = text.split("\n");
    return lines
      .toSpliced(
        at % lines.length,
        2,
        lines
          .slice(at % lines.length)
          .slice(0, 2)
          .join(""),
      )
      .join("\n");
  },
  "half a line": (text, at) => {
    const lines = text.split("\n");
    const half = (line: string) => line.slice(0, line.length / 2);
    return lines.with(at % lines.length, half(lines[at % lines.length] ?? "")).join("\n");
  },
  "a lost character": (text, at) =>
    text.slice(0, at % (text.length + 1)) + text.slice((at % (text.length + 1)) + 1),
  "Windows' line ends": (text) => `\uFEFF${text.replaceAll("\n", "\r\n")}`,
};

const WORD = /zq\d+/g;

async function lostOf(format: Exclude<ImportFormat, "helmdeck" | "jsonl">, name: string, text: string) {
  const said: string[] = [];
  const named = new Set<number>();
  const context = { namespace: namespaceOf("main"), now: NOW };
  for await (const item of READERS[format]([textFile(text, name)], context)) {
    if ("entry" in item)
      said.push(
        JSON.stringify([
          item.entry.key,
          Buffer.from(item.entry.value).toString(),
          item.entry.category,
          item.entry.tags,
        ]),
      );
    else for (let line = item.line; line <= (item.to ?? item.line); line += 1) named.add(line);
  }
  const whole = said.join("\n");
  return { named, isSaid: (word: string) => whole.includes(word) };
}

const written = (parts: Parts) =>
  fc.array(fc.constantFrom(...Object.keys(parts)), { minLength: 1, maxLength: 6 }).map((names) => {
    let count = 0;
    const word = () => {
      count += 1;
      return `zq${count}`;
    };
    return names.map((name) => parts[name]?.(word));
  });
const damaged = fc.record({ how: fc.constantFrom(...Object.keys(DAMAGE)), at: fc.nat() });

// verifies P-import-named
test.each([
  ["markdown", "notes/notes.md"],
  ["openclaw", "MEMORY.md"],
  ["openclaw", "USER.md"],
  ["openclaw", "memory/2026-03-01.md"],
] as const)("%s: no word of %s is lost", async (format, name) => {
  const texts = fc.record({
    parts: written(MARKDOWN),
    between: fc.constantFrom("\n", "\n\n"),
    damage: damaged,
  });
  await fc.assert(
    fc.asyncProperty(texts, async ({ parts, between, damage: { how, at } }) => {
      const text = DAMAGE[how]?.(parts.join(between), at) ?? "";
      const { named, isSaid } = await lostOf(format, name, text);
      const lost = text
        .split("\n")
        .flatMap((line, index) =>
          named.has(index + 1) ? [] : (line.match(WORD) ?? []).filter((word) => !isSaid(word)),
        );
      expect(lost).toEqual([]);
    }),
    { numRuns: 400 },
  );
});

// verifies P-import-named
test.each([
  ["server-memory", GRAPH, "entities"],
  ["mem0", MEM0, "results"],
  ["mem0", MEM0, "memories"],
] as const)("%s: no word is lost", async (format, table, list) => {
  const texts = fc.record({
    parts: written(table),
    layout: fc.constantFrom(...Object.keys(LAYOUTS)),
    damage: damaged,
  });
  await fc.assert(
    fc.asyncProperty(texts, async ({ parts, layout, damage: { how, at } }) => {
      const text = DAMAGE[how]?.(LAYOUTS[layout]?.(parts, list) ?? "", at) ?? "";
      const read = await lostOf(format, "file.json", text).catch((error: unknown) => String(error));
      if (typeof read === "string") {
        expect(read).toMatch(/is not what mem0 writes/);
        return;
      }
      const { named, isSaid } = read;
      // In a text of one value, the numbers are those of its parts.
      const one = jsonOf(text.replace(/^\uFEFF/, "")) as Record<string, unknown[]> | undefined; // any JSON
      const places =
        one === undefined ? text.split("\n") : [one[list] ?? one].flat().map((part) => JSON.stringify(part));
      const lost = places.flatMap((place, index) =>
        named.has(index + 1) ? [] : (place.match(WORD) ?? []).filter((word) => !isSaid(word)),
      );
      expect(lost).toEqual([]);
    }),
    { numRuns: 400 },
  );
});
