/** The result of importing each format's sample, and the rules for parsing Markdown. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exportLines } from "../../app/transfer/export-lines.ts";
import { guessFormat, wantsFormat } from "../../app/transfer/formats/guess-format.ts";
import { markdownItems } from "../../app/transfer/formats/markdown-items.ts";
import { keyOfParts, nameOfText, slugOf } from "../../app/transfer/formats/note-keys.ts";
import { workspaceNotes } from "../../app/transfer/formats/workspace-notes.ts";
import { validateFact } from "../../engine/facts/facts-policy.ts";
import { rfc3339 } from "../../engine/rfc3339.ts";
import { openTestMemory } from "../app/fixtures/memories.ts";
import { factsOf, importNotes, SAMPLES, sample, textFile } from "./notes.ts";

const itemsOf = (markdown: string) => [...markdownItems(markdown)];
const textsOf = (markdown: string) =>
  itemsOf(markdown).map((item) => ("text" in item ? item.text : item.leftOut));

describe("the notes of OpenClaw", () => {
  test("become facts under their headings, with the days of daily notes and directives", async () => {
    const memory = await openTestMemory();
    const result = await importNotes(memory, "openclaw", SAMPLES.openclaw.map(sample));
    expect(result).toMatchObject({ stored: 14, refusedCount: 0 });
    expect(result.leftOut).toEqual({
      "front matter": 1,
      "a link definition": 1,
      "a comment": 5,
      "a title": 3,
      "a superseded directive": 1,
      "the template's example": 1,
    });
    expect(await factsOf(memory)).toEqual({
      "daily/2026-11-18/the-build-cache-is-in-srv-cache": "The build cache is in /srv/cache now.",
      "daily/2026-11-18/the-runner-was-moved-to-the": "The runner was moved to the new host.",
      "daily/2026-11-19-release/release-4.2-went-out-at-noon": "Release 4.2 went out at noon.",
      "memory/deploys/before-a-release/run-the-smoke-tests": "run the smoke tests",
      "memory/deploys/before-a-release/tag-the-commit": "tag the commit",
      "memory/deploys/never-on-a-friday": "Never on a Friday\n- unless it is a rollback",
      "memory/deploys/production": "**Production:** through Konflux, staging first.",
      "memory/tools/search-the-logs-with":
        'Search the logs with\n\n```sh\ngrep -rn "<!-- not a comment -->" /var/log\n```',
      "memory/tools/tool-version": "| tool | version |\n|------|---------|\n| node | 24      |",
      "memory/what-is-worth-keeping-stands-here": "What is worth keeping stands here.",
      "memory/習慣/move-the-build-cache": "[ ] move the build cache",
      "memory/習慣/التقارير-بالعربية": "التقارير بالعربية",
      "memory/習慣/返事は短く": "返事は短く",
      "user/directives/prefer-concise-progress-updates-during-implementation":
        "Prefer concise progress updates during implementation work.",
    });
    const { facts } = await memory.listFacts("main", { category: "daily_notes" });
    expect(facts.map(({ updatedAt }) => rfc3339(updatedAt))).toEqual([
      "2026-11-19T00:00:00.000Z",
      "2026-11-18T00:00:00.000Z",
      "2026-11-18T00:00:00.000Z",
    ]);
    const directive = await memory.getFact("main", {
      key: "user/directives/prefer-concise-progress-updates-during-implementation",
    });
    expect(rfc3339(directive?.createdAt ?? 0)).toBe("2026-10-02T00:00:00.000Z");
  });

  test("are the files of a workspace that its documentation names", () => {
    const names = ["AGENTS.md", "DREAMS.md", "USER.md", "MEMORY.md", "memory/2026-11-18.md", "memory/x.json"];
    expect(workspaceNotes(names)).toEqual(["MEMORY.md", "USER.md", "memory/2026-11-18.md"]);
  });

  test.each([
    ["of today in the first zone has its day", "2026-11-21", "2026-11-21T00:00:00.000Z"],
    ["of a day that has begun nowhere has the time of the import", "2026-11-22", "2026-11-20T12:00:00.000Z"],
    ["of a date that no calendar has is imported without it", "2026-02-30", "2026-11-20T12:00:00.000Z"],
  ])("a daily note %s", async (_what, date, time) => {
    const memory = await openTestMemory();
    await importNotes(memory, "openclaw", [textFile("- Cache", `memory/${date}.md`)]);
    const { facts } = await memory.listFacts("main", {});
    expect(facts.map(({ updatedAt }) => rfc3339(updatedAt))).toEqual([time]);
    let lines = "";
    for await (const line of exportLines({ memory, subject: "main", onProblem: () => undefined }))
      lines += line;
    await importNotes(memory, "jsonl", [textFile(lines)], { subject: "moved" });
    expect((await memory.listFacts("moved", {})).facts).toMatchObject([{ updatedAt: Date.parse(time) }]);
  });

  test("do not include any other file", async () => {
    const memory = await openTestMemory();
    await expect(importNotes(memory, "openclaw", [textFile("x", "AGENTS.md")])).rejects.toThrow(
      "AGENTS.md is not one of OpenClaw's notes",
    );
  });
});

test("any Markdown is named by folder and file, and duplicates are imported once", async () => {
  const memory = await openTestMemory();
  const result = await importNotes(memory, "markdown", SAMPLES.markdown.map(sample));
  expect(result).toMatchObject({ stored: 4, leftOut: { "a repetition": 1 } });
  expect(await factsOf(memory)).toEqual({
    "notes/claude/commands/build": "Build: `npm run build`",
    "notes/claude/commands/build-2": "Build: `make`",
    "notes/claude/commands/test": "Test: `npm test`",
    "notes/claude/use-the-pinned-node-of-the": "Use the pinned Node of the repository.",
  });
});

test("mem0's memories keep ids, times, categories and owners, and expired ones are skipped", async () => {
  const memory = await openTestMemory();
  const result = await importNotes(memory, "mem0", SAMPLES.mem0.map(sample));
  expect(result).toMatchObject({ stored: 2, refusedCount: 1 });
  expect(result.refused).toEqual([
    {
      file: sample("mem0.json").name,
      line: 3,
      code: "invalid_input",
      reason: "It has already expired in its source.",
    },
  ]);
  const fact = await memory.getFact("main", { key: "mem0/6f0c1e7a-3f7e-4a55-9a53-0d2b7a2f1c11" });
  expect(fact).toMatchObject({
    value: "Prefers staging deploys before production",
    category: "deploys",
    tags: ["user_id=operator", "type=preference", `import:${result.importId}`],
    createdAt: Date.parse("2026-09-03T17:16:05.490Z"),
    updatedAt: Date.parse("2026-10-03T17:16:05.490Z"),
  });
});

test.each([
  ["not JSON", "{", "is not what mem0 writes"],
  ["an export in another format", '{"full_name": "x"}', "is not what mem0 writes"],
])("mem0: a file that is %s is refused completely", async (_name, text, message) => {
  const memory = await openTestMemory();
  await expect(importNotes(memory, "mem0", [textFile(text, "mem0.json")])).rejects.toThrow(message);
});

test("mem0: a graph's relations become facts, the names of its other library are accepted, and a single page is reported as incomplete", async () => {
  const memory = await openTestMemory();
  const answer = {
    next: "https://api.example.org/v2/memories/?page=2",
    results: [
      { id: "a", memory: "kept", userId: "ana", createdAt: "2026-10-05T08:00:00.123456", updatedAt: null },
    ],
    relations: [
      { source: "ana", relationship: "works_at", target: "Example Works" },
      { source: "ana", destination: "nowhere" },
    ],
  };
  const result = await importNotes(memory, "mem0", [textFile(JSON.stringify(answer), "mem0.json")]);
  expect(await factsOf(memory)).toEqual({
    "mem0/a": "kept",
    "mem0/relations/ana/works_at/example-works": "ana works_at Example Works",
  });
  expect(await memory.getFact("main", { key: "mem0/a" })).toMatchObject({
    createdAt: Date.parse("2026-10-05T08:00:00.123Z"),
    tags: ["user_id=ana", `import:${result.importId}`],
  });
  expect(result.refused.map(({ line, reason }) => [line, reason])).toEqual([
    [3, "This is not a relation of mem0's graph."],
  ]);
  expect(result.leftOut).toEqual({ "further pages of mem0's response, which are not in the file": 1 });
});

test.each([
  [["health", "food"], "health", ["food"]],
  [["Personal Details", "family"], "family", ["Personal Details"]],
  [["tool_history"], "user_facts", ["tool_history"]],
  [null, "user_facts", []],
])("mem0: of the categories %j, %s is the fact's", async (categories, category, tags) => {
  const memory = await openTestMemory();
  const text = JSON.stringify([{ id: "a", memory: "kept", categories }]);
  const { importId } = await importNotes(memory, "mem0", [textFile(text, "mem0.json")]);
  const fact = await memory.getFact("main", { key: "mem0/a" });
  expect(fact).toMatchObject({ category, tags: [...tags, `import:${importId}`] });
});

test.each([
  ["category: health", "health"],
  ['title: x\ncategory: "health"', "health"],
  ["category: Not One", "user_facts"],
  ["category: audit log", "user_facts"],
  ["category: cache", "user_facts"],
  ["categories: health", "user_facts"],
])("Markdown with the front matter %j is of the category %s", async (front, category) => {
  const memory = await openTestMemory();
  await importNotes(memory, "markdown", [textFile(`---\n${front}\n---\n- one\n\ncategory: text\n`)]);
  const { facts } = await memory.listFacts("main", {});
  expect(facts.map((fact) => fact.category)).toEqual([category, category]);
});

test("mem0: only a memory of another type is refused, without showing its value", async () => {
  const memory = await openTestMemory();
  const text = JSON.stringify([{ id: "a", memory: 7 }, "hunter2", { id: "b", memory: "kept" }]);
  const { refused, stored } = await importNotes(memory, "mem0", [textFile(text, "mem0.json")]);
  expect(stored).toBe(1);
  expect(refused.map(({ line, reason }) => [line, reason])).toEqual([
    [1, "This memory's memory does not have the type that mem0 writes."],
    [2, "This is not a mem0 memory."],
  ]);
});

test("server-memory's observations and relations become facts, with the entity's name and type", async () => {
  const memory = await openTestMemory();
  const { importId } = await importNotes(memory, "server-memory", SAMPLES["server-memory"].map(sample));
  expect(await factsOf(memory)).toEqual({
    "graph/konflux/deploys-staging-first": "Konflux: deploys staging first",
    "graph/konflux/keeps-logs-for-30-days": "Konflux: keeps logs for 30 days",
    "graph/konflux/runs_on/runner": "Konflux runs_on Runner",
    "graph/runner": "Runner: host",
  });
  expect((await memory.getFact("main", { key: "graph/runner" }))?.tags).toEqual([
    "host",
    `import:${importId}`,
  ]);
});

const ANA = { type: "entity", name: "Ana", entityType: "person", observations: ["likes tea"] };
const GRAPH = { entities: [ANA], relations: [{ from: "Ana", to: "Delft", relationType: "lives in" }] };
const LIKES_TEA = { "graph/ana/likes-tea": "Ana: likes tea" };
const GRAPH_FACTS = { ...LIKES_TEA, "graph/ana/lives-in/delft": "Ana lives in Delft" };
const DAMAGED = "The text is not JSON here, or cut short. What is whole in it was read.";
const NOT_A_PART = "This is not an entity or relation of server-memory.";

test.each<[string, string, Record<string, string>, object]>([
  ["without a type", JSON.stringify({ ...ANA, type: undefined }), LIKES_TEA, {}],
  [
    "without observations",
    JSON.stringify({ ...ANA, observations: null }),
    { "graph/ana": "Ana: person" },
    {},
  ],
  [
    "with odd observations",
    JSON.stringify({ ...ANA, observations: ["likes tea", 7, " ", null] }),
    { ...LIKES_TEA, "graph/ana/7": "Ana: 7" },
    { leftOut: { "an empty observation": 1 } },
  ],
  [
    "cut short",
    `${JSON.stringify(GRAPH.relations[0])}\n${JSON.stringify({ ...ANA, observations: ["likes tea", "x"] }).slice(0, -3)}`,
    GRAPH_FACTS,
    { refused: [{ line: 2, reason: DAMAGED }] },
  ],
  [
    "cut within a character",
    `${JSON.stringify(ANA)}\n{"name":"Bo","observations":["né`.slice(0, -1),
    { ...LIKES_TEA, "graph/bo": "Bo" },
    { refused: [{ line: 2, reason: DAMAGED }] },
  ],
  ["on one line", `${JSON.stringify(ANA)}${JSON.stringify(GRAPH.relations[0])}`, GRAPH_FACTS, {}],
  ["as a list over lines", JSON.stringify([ANA], null, 2), LIKES_TEA, {}],
  ["as a list with a comma too many", `[\n${JSON.stringify(ANA)},\n]`, LIKES_TEA, {}],
  ["as read_graph answers", JSON.stringify(GRAPH, null, 2), GRAPH_FACTS, {}],
  [
    "as the tool's result",
    JSON.stringify({ content: [{ type: "text", text: JSON.stringify(GRAPH) }] }),
    GRAPH_FACTS,
    {},
  ],
  [
    "beside other text",
    `${JSON.stringify(ANA)}\nhunter2\n{"type":"entity"}`,
    LIKES_TEA,
    {
      refused: [
        { line: 2, reason: DAMAGED },
        { line: 3, reason: NOT_A_PART },
      ],
    },
  ],
])("server-memory: what is whole %s is imported, and the rest named", async (_what, text, facts, named) => {
  const memory = await openTestMemory();
  const result = await importNotes(memory, "server-memory", [textFile(text, "memory.jsonl")]);
  expect(await factsOf(memory)).toEqual(facts);
  expect(result).toMatchObject({ refused: [], ...named });
  expect(JSON.stringify(result)).not.toContain("hunter2");
});

const ENTRIES = "[2026-03-01] - Lives in Delft\n[2026-03-02] - Likes tea\n[unknown] - Has a cat";
const BACKUP = {
  user: { id: "u", user_id: "ana" },
  apps: [{ id: "p", name: "cursor" }],
  categories: [{ id: "c", name: "health" }],
  memories: [
    { id: "a", app_id: "p", content: "likes tea", state: "active", category_ids: ["c"], deleted_at: null },
    { id: "b", app_id: "p", content: "gone", state: "deleted", category_ids: [], deleted_at: "2026-03-01" },
  ],
};

test.each<[string, "markdown" | "mem0", string, Record<string, string>, Record<string, number>]>([
  [
    "Claude's code block",
    "markdown",
    `\`\`\`\n${ENTRIES}\n\`\`\``,
    entriesUnder("2026-03-01-", "2026-03-02-", "unknown-"),
    {},
  ],
  [
    "entries below each other",
    "markdown",
    ENTRIES,
    entriesUnder("2026-03-01-", "2026-03-02-", "unknown-"),
    {},
  ],
  [
    "a numbered answer",
    "markdown",
    ENTRIES.replace(/^/gm, "1. "),
    entriesUnder("2026-03-01-", "2026-03-02-", "unknown-"),
    {},
  ],
  [
    "dots and no-break spaces",
    "markdown",
    "•\u00A0Lives in Delft\n•\u00A0Likes tea\n•Has a cat",
    entriesUnder("", "", ""),
    {},
  ],
  ["dashes", "markdown", "– Lives in Delft\n– Likes tea\n– Has a cat", entriesUnder("", "", ""), {}],
  [
    "a quote's author",
    "markdown",
    "> Tea\n\n— Ana",
    { "notes/notes/tea": "> Tea", "notes/notes/ana": "— Ana" },
    {},
  ],
  [
    "text between rules",
    "markdown",
    "---\nAllergic to penicillin\n---\n- rest",
    { "notes/notes/allergic-to-penicillin": "Allergic to penicillin", "notes/notes/rest": "rest" },
    {},
  ],
  [
    "two blocks of front matter",
    "markdown",
    "---\ntitle: a\n---\n- one\n\n---\ntitle: b\nkind: c\n---\n- two",
    { "notes/notes/one": "one", "notes/notes/title": "title: b\nkind: c", "notes/notes/two": "two" },
    { "front matter": 1 },
  ],
  [
    "a sentence above a rule",
    "markdown",
    "I am allergic to penicillin\n---\n",
    { "notes/notes/i-am-allergic-to-penicillin": "I am allergic to penicillin" },
    {},
  ],
  ["memories", "mem0", '{"memories":[{"id":"a","memory":"likes tea"}]}', { "mem0/a": "likes tea" }, {}],
  [
    "OpenMemory's list",
    "mem0",
    '{"items":[{"id":"a","content":"likes tea","created_at":1769860800}]}',
    { "mem0/a": "likes tea" },
    {},
  ],
  [
    "OpenMemory's backup",
    "mem0",
    JSON.stringify(BACKUP),
    { "mem0/a": "likes tea" },
    { "a memory that is not active in OpenMemory": 1 },
  ],
  [
    "OpenMemory's lines",
    "mem0",
    BACKUP.memories.map((one) => JSON.stringify(one)).join("\n"),
    { "mem0/a": "likes tea" },
    { "a memory that is not active in OpenMemory": 1 },
  ],
])("%s, as %s, is imported item by item", async (_what, format, text, facts, leftOut) => {
  const memory = await openTestMemory({ now: () => Date.parse("2026-11-20T12:00:00Z") });
  const result = await importNotes(memory, format, [textFile(text)]);
  expect(await factsOf(memory)).toEqual(facts);
  expect(result.leftOut ?? {}).toEqual(leftOut);
  const lives = await memory.getFact("main", { key: "notes/notes/2026-03-01-lives-in-delft" });
  if (lives !== undefined) expect(rfc3339(lives.createdAt)).toBe("2026-03-01T00:00:00.000Z");
});

function entriesUnder(first: string, second: string, third: string): Record<string, string> {
  return {
    [`notes/notes/${first}lives-in-delft`]: "Lives in Delft",
    [`notes/notes/${second}likes-tea`]: "Likes tea",
    [`notes/notes/${third}has-a-cat`]: "Has a cat",
  };
}

test("OpenMemory's backup names categories and programs by id", async () => {
  const memory = await openTestMemory();
  await importNotes(memory, "mem0", [textFile(JSON.stringify(BACKUP))]);
  expect(await memory.getFact("main", { key: "mem0/a" })).toMatchObject({
    category: "health",
    tags: ["app_id=cursor", expect.stringContaining("import:")],
  });
});

test("an entry whose day is in the text since 0.3.0 stays one fact", async () => {
  const memory = await openTestMemory();
  const { importId } = await importNotes(memory, "markdown", [textFile("- [2026-03-01] - Lives in Delft")]);
  const key = "notes/notes/2026-03-01-lives-in-delft";
  await memory.forget("main", { scope: `import:${importId}` });
  await importNotes(memory, "jsonl", [
    textFile(JSON.stringify({ key, value: "[2026-03-01] - Lives in Delft", tags: [`import:${importId}`] })),
  ]);
  const again = await importNotes(memory, "markdown", [textFile("- [2026-03-01] - Lives in Delft")]);
  expect(again).toMatchObject({ stored: 0, replaced: 0, kept: 1 });
  expect(await factsOf(memory)).toEqual({ [key]: "[2026-03-01] - Lives in Delft" });
});

test.each([["facts.jsonl"], ["-"], ["export"]])("%s is recognised as helmdeck-memory's format", (name) => {
  expect(guessFormat([name])).toBe("jsonl");
});

test.each([
  ["openclaw", ["ws/MEMORY.md"]],
  ["jsonl", ["constructor", "__proto__", "toString"]],
  ["openclaw", ["USER.md", "ws/MEMORY.md"]],
  ["markdown", ["repo/CLAUDE.md"]],
  ["markdown", ["CLAUDE.md", "AGENTS.md"]],
])("as %s, %j are known by name", (format, names) => {
  expect(guessFormat(names)).toBe(format);
});

test.each([[["MEMORY.md", "CLAUDE.md"]], [["facts.jsonl", "AGENTS.md"]]])(
  "%j are not one import",
  (names) => {
    expect(() => guessFormat(names)).toThrow(/of several formats .* with --from/);
  },
);

test.each([["claude.md"], ["notes.MARKDOWN"], ["mem0.json"]])("the format of %s must be given", (name) => {
  expect(() => guessFormat(["facts.jsonl", name])).toThrow(wantsFormat(name).message);
  expect(wantsFormat(name).message).toContain("helmdeck, openclaw, markdown, mem0, server-memory");
});

describe("Markdown", () => {
  test("has line numbers that include front matter and Windows line ends", () => {
    const items = itemsOf(
      "\uFEFF---\r\na: 1\r\n---\r\n# T\r\n\r\n- one\r\n- two\r\n\r\n> a quote\r\n> of two lines\r\n",
    );
    expect(items).toEqual([
      { line: 1, to: 3, leftOut: "front matter" },
      { line: 4, leftOut: "a title" },
      { line: 6, headings: [], text: "one" },
      { line: 7, headings: [], text: "two" },
      { line: 9, headings: [], text: "> a quote\n> of two lines" },
    ]);
  });

  test("supports headings of every kind and depth, and a title that adds no name", () => {
    const items = itemsOf("Title\n=====\n## A\nx\n### B\ny\n## C #\nz\n# D\nw");
    expect(items.map((item) => ("text" in item ? [...item.headings, item.text] : [item.leftOut]))).toEqual([
      ["a title"],
      ["A", "x"],
      ["A", "B", "y"],
      ["C", "z"],
      ["D", "w"],
    ]);
  });

  test("keeps links, HTML and emphasis as written, and removes comments", () => {
    expect(
      textsOf("a [link](https://example.org) and *this*<br> <!-- gone -->there\n\n<div>\nb\n</div>"),
    ).toEqual(["a comment", "a [link](https://example.org) and *this*<br>there", "<div>\nb\n</div>"]);
    expect(textsOf("`<!-- kept -->` and <!-- never closed")).toEqual([
      "`<!-- kept -->` and <!-- never closed",
    ]);
  });

  test("adds a block of code to the paragraph before it; otherwise it is an item", () => {
    expect(textsOf("run\n\n```\na\n```\n\n```\nb\n```\n\n- x\n\n    indented\n\n---\n\n```\nc\n```")).toEqual(
      ["run\n\n```\na\n```\n\n```\nb\n```", "x\n\n  indented", "```\nc\n```"],
    );
  });

  test.each([
    ["quotes within quotes", `${"> ".repeat(100_000)}a`],
    [
      "lists within lists",
      Array.from({ length: 1_500 }, (_none, depth) => `${"  ".repeat(depth)}- a`).join("\n"),
    ],
    ["open brackets", "[".repeat(500_000)],
    ["open comments", "<!--".repeat(100_000)],
    ["backticks", Array.from({ length: 1_000 }, (_none, length) => "`".repeat(length)).join(" ")],
    ["a very long paragraph", "b\n".repeat(200_000)],
    ["front matter without end", `---\n${"\n".repeat(4_000_000)}b`],
  ])("of %s is read quickly", { timeout: 5_000 }, (_name, hostile) => {
    expect(itemsOf(hostile).length).toBeGreaterThan(0);
  });
});

test.each([
  ["with a byte order mark", Buffer.from("\uFEFF- one\n", "utf16le")],
  ["without a byte order mark", Buffer.from("- one\n", "utf16le")],
])("a UTF-16 file %s is refused, and nothing is imported", async (_name, bytes) => {
  const memory = await openTestMemory();
  const file = {
    name: "notes.md",
    open: async function* () {
      yield bytes;
    },
  };
  for (const format of ["markdown", "mem0"] as const) {
    await expect(importNotes(memory, format, [file])).rejects.toThrow("notes.md is not UTF-8 text.");
  }
  expect(await factsOf(memory)).toEqual({});
});

test.each([
  ["mem0", "# Notes", "it looks like Markdown (--from markdown)"],
  ["mem0", '{"key":"a"}\n{"key":"b"}', "it looks like JSON Lines (--from jsonl)"],
  ["mem0", '{"type":"entity"}\n{"type":"entity"}', "server-memory (--from server-memory)"],
  ["markdown", '[\n  {"id": "a", "memory": "m"}\n]', "is not Markdown: it looks like JSON (--from mem0)"],
  ["markdown", '{"results":[]}', "is not Markdown: it looks like JSON (--from mem0)"],
  ["markdown", '{"key":"a"}\n{"key":"b"}', "is not Markdown: it looks like JSON Lines (--from jsonl)"],
] as const)(
  "--from %s of %j is refused with the format that it looks like",
  async (format, text, message) => {
    const memory = await openTestMemory();
    await expect(importNotes(memory, format, [textFile(text)])).rejects.toThrow(message);
    expect(await factsOf(memory)).toEqual({});
  },
);

test("Markdown that begins with a link, a check box or a brace is Markdown", async () => {
  for (const text of ["[a](b) c", "[ ] do", "{a} b", "[1, 2] and more\n"]) {
    const memory = await openTestMemory();
    expect(await importNotes(memory, "markdown", [textFile(text)])).toMatchObject({ stored: 1 });
  }
});

describe("a key made from words", () => {
  test.each([
    ["**Production:** through Konflux", "production"],
    ["**Production**: through Konflux", "production"],
    ["Build command: `make`", "build-command"],
    ["see https://example.org", "see-https-example.org"],
    ["Use node 24.1 here. Then `make`.", "use-node-24.1-here-then-make"],
    ["[x] Move the build cache", "move-the-build-cache"],
    ["one two three four five six seven", "one-two-three-four-five-six"],
    ["de\u200Bploy \u202E here", "deploy-here"],
  ])("of %j is %j", (text, name) => {
    expect(nameOfText(text)).toBe(name);
  });

  test("that is repeated gets a number, also when names already look numbered", {
    timeout: 20_000,
  }, async () => {
    const memory = await openTestMemory();
    const named = Array.from({ length: 600 }, (_none, index) => `- Step ${index + 2}: v\n`);
    const plain = Array.from({ length: 200 }, (_none, index) => `- Step: ${index}\n`);
    const file = textFile(["- Step: first\n", ...named, ...plain].join(""));
    expect(await importNotes(memory, "markdown", [file])).toMatchObject({ stored: 801 });
    expect((await memory.getFact("main", { key: "notes/notes/step-801" }))?.value).toBe("Step: 199");
    expect(await importNotes(memory, "markdown", [file])).toMatchObject({ refreshed: 801, stored: 0 });
  });

  test("is deterministic and valid for any text", () => {
    const texts = fc.string({ unit: "grapheme", minLength: 1 });
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 12 }), texts, (headings, text) => {
        const key = keyOfParts(["root", ...headings.map((heading) => slugOf(heading)), nameOfText(text)]);
        expect(validateFact({ key, value: "v" }).key).toBe(key);
        expect(keyOfParts(["root", ...headings.map((heading) => slugOf(heading)), nameOfText(text)])).toBe(
          key,
        );
      }),
    );
  });
});
