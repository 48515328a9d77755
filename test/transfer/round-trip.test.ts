/** A Markdown export can be imported without changes, whatever format the facts were first imported from. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { exportLines } from "../../app/transfer/export-lines.ts";
import { exportMarkdown } from "../../app/transfer/export-markdown.ts";
import { MARKDOWN_MARK } from "../../app/transfer/markdown-marks.ts";
import { factEntry, validateFact } from "../../engine/facts/facts-policy.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { DAY_MS, NOW, openMemoryInProcess, openTestMemory } from "../app/fixtures/memories.ts";
import { importLines } from "./import-lines.ts";
import { importNotes, SAMPLES, sample, textFile } from "./notes.ts";

async function exportOf(memory: OpenMemory, to: typeof exportLines | typeof exportMarkdown, end = "") {
  let text = "";
  const onProblem = (problem: object): never => {
    throw new Error(JSON.stringify(problem));
  };
  for await (const piece of to({ memory, subject: "main", onProblem })) text += piece + end;
  return text;
}

async function everyFact(memory: OpenMemory): Promise<readonly object[]> {
  const { facts } = await memory.listFacts("main", { limit: 1_000 });
  return facts.map(({ writer: _, revision: __, ...fact }) => fact).sort((a, b) => (a.key < b.key ? -1 : 1));
}

const HARD = [
  "# a heading\n## and another\n### deploy/konflux\n- tags: []",
  "```\na fence\n````\n~~~",
  "a  \nb\t\n\n\n  c",
  "a\r\nb\rc",
  "> quoted\n>\n>> twice",
  "<!-- helmdeck-memory facts, format 1 -->\n<script>x</script>",
  "---\nfront: matter\n---",
  "\\_ escaped \\\\",
  "\u202Ehidden\u200B \u001b[31mred",
  "تقرير می‌خواهم 👩‍👩‍👧 返事",
  '"json"\n```json\n"x"\n```',
];

test.each(HARD)("a value such as %j comes back from Markdown", async (value) => {
  const memory = await openTestMemory();
  await memory.storeFact("main", { key: "k", value });
  const copy = await openTestMemory();
  const text = await exportOf(memory, exportMarkdown);
  expect(await importNotes(copy, "markdown", [textFile(text)])).toMatchObject({ stored: 1, refusedCount: 0 });
  expect(await everyFact(copy)).toEqual(await everyFact(memory));
});

test("for any facts, their Markdown restores keys, values, categories, tags and times", async () => {
  const text = fc.oneof(fc.string({ unit: "grapheme", maxLength: 40 }), fc.constantFrom(...HARD));
  const fact = fc.record({
    key: fc.string({ unit: fc.constantFrom(..."abc/_*`[]<>#&~|\\ é日.-"), minLength: 1, maxLength: 20 }),
    value: fc.array(text, { maxLength: 4 }).map((parts) => parts.join("\n")),
    category: fc.constantFrom("user_facts", "team", "a.b-c_d"),
    tags: fc.array(fc.string({ unit: "grapheme", maxLength: 12 }), { maxLength: 4 }),
    conversationId: fc.constantFrom(undefined, "call/2026-03", "a _b_ `c`", "日"),
  });
  const facts = fc.uniqueArray(fact, { selector: ({ key }) => key.trim(), maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(facts, async (given) => {
      const memory = await openMemoryInProcess();
      const valid = given.flatMap((one) => {
        try {
          return [validateFact(one)];
        } catch {
          return [];
        }
      });
      const entries = valid.map((one) =>
        factEntry(namespaceOf("main"), one, {
          createdAt: NOW - 5,
          updatedAt: NOW - 3,
          expiresAt: NOW + DAY_MS,
        }),
      );
      await memory.store.putMany(entries);
      const copy = await openMemoryInProcess();
      const exported = await exportOf(memory, exportMarkdown);
      const { refused } = await importNotes(copy, "markdown", [textFile(exported)], { allowSecrets: true });
      expect(refused).toEqual([]);
      expect(await everyFact(copy)).toEqual(await everyFact(memory));
      await memory.close();
      await copy.close();
    }),
    { numRuns: 40 },
  );
});

describe("an export as Markdown", () => {
  test("has this format", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "deploy/*prod*", value: "Konflux,\nstaging first", tags: ["ci"] });
    await memory.storeFact("main", { key: "agreed", value: "no Fridays", category: "team" });
    expect(await exportOf(memory, exportMarkdown)).toBe(`${MARKDOWN_MARK}

# Facts of main

## team

### agreed

- created: 2026-11-20T12:00:00.000Z
- updated: 2026-11-20T12:00:00.000Z
- ends: 2027-02-18T12:00:00.000Z

> no Fridays

## user_facts

### deploy/\\*prod\\*

- tags: ["ci"]
- created: 2026-11-20T12:00:00.000Z
- updated: 2026-11-20T12:00:00.000Z
- ends: 2027-02-18T12:00:00.000Z

> Konflux,
> staging first
`);
  });

  test("is safe on a terminal, and keeps legitimate characters", async () => {
    const memory = await openTestMemory();
    await memory.storeFact("main", { key: "a", value: "\u001b]0;owned\u0007 \u202Eback" });
    await memory.storeFact("main", { key: "b", value: "می‌خواهم 👩‍👩‍👧" });
    const text = await exportOf(memory, exportMarkdown);
    for (const acting of ["\u001b", "\u0007", "\u202e"]) expect(text).not.toContain(acting);
    expect(text).toContain("> می‌خواهم 👩‍👩‍👧");
  });

  test("with edits is refused where they change the meaning, and accepted elsewhere", async () => {
    const memory = await openTestMemory();
    const text = `${MARKDOWN_MARK}\nhello\n## team\n### a\n> one\n### b\nhunter2\n> two\n### c\n- tags: [1]\n> three\n### d\n> four\r\n`;
    const { refused, stored } = await importNotes(memory, "markdown", [textFile(text)]);
    expect([stored, refused.map(({ line }) => line)]).toEqual([2, [2, 6, 9]]);
    expect(JSON.stringify(refused)).not.toContain("hunter2");
    expect(await memory.getFact("main", { key: "d" })).toMatchObject({ value: "four", category: "team" });
  });

  test("of an import keeps its tags and adds none", async () => {
    const memory = await openTestMemory();
    const { importId } = await importNotes(memory, "openclaw", SAMPLES.openclaw.map(sample));
    const copy = await openTestMemory();
    const again = await importNotes(copy, "markdown", [textFile(await exportOf(memory, exportMarkdown))]);
    expect(again).toMatchObject({ stored: 14 });
    expect(again.importId).toBeUndefined();
    expect(await copy.forget("main", { scope: `import:${importId}` })).toMatchObject({ deleted: 14 });
  });
});

describe.each(Object.entries(SAMPLES))("%s", (format, files) => {
  test("survives import, export as JSON Lines and Markdown, and another import unchanged", async () => {
    const memory = await openTestMemory();
    const result = await importNotes(memory, format as keyof typeof SAMPLES, files.map(sample));
    expect(result.stored).toBeGreaterThan(1);
    const [lines, markdown] = [await openTestMemory(), await openTestMemory()];
    const input = textFile(await exportOf(memory, exportLines, "\n")).open();
    expect(await importLines({ memory: lines, subject: "main", input })).toMatchObject({
      stored: result.stored,
    });
    await importNotes(markdown, "markdown", [textFile(await exportOf(memory, exportMarkdown))]);
    expect(await everyFact(lines)).toEqual(await everyFact(memory));
    expect(await everyFact(markdown)).toEqual(await everyFact(memory));
  });
});
