/** The recall setting: the same values on each surface, and the text of an empty answer. */
import { expect, onTestFinished, test } from "vitest";
import { RECALL_MODES } from "../../engine/answer-limits.ts";
import { memoryPack } from "../../packs/shipped/memory-packs.ts";
import { createServer } from "../../server/create-server.ts";
import { inTurn, openTestMemory, tempPlace } from "../app/fixtures/memories.ts";
import { mcpClientOf } from "../server/fixtures/mcp-client.ts";
import { testServerContext } from "../server/fixtures/mcp-context.ts";
import { helmdeckMemory, openclawHelmdeck } from "./command-lines.ts";

/** REST uses this name for callers without a token. The other surfaces are set to the same memory. */
const CALLER = "unknown";
const FACTS = ["Kolibri", "Nordlicht", "Birkenhof", "Seestern"].map((name) => ({
  key: `wifi/${name}`,
  value: `The wifi ${name} was set up by the ${name} people.`,
}));
/** Shares a word with each fact, but no fact answers it. */
const QUERY = "password of the wifi upstairs";
const SHOWN = { balanced: 3, quiet: 0, eager: 4 } as const;

async function surfaces() {
  const place = await tempPlace();
  const memory = await openTestMemory({ ...place, now: Date.now });
  await inTurn(FACTS, (fact) => memory.storeFact(CALLER, fact));
  const context = testServerContext({ memory, packs: [memoryPack("corpus", memory)] });
  const rest = createServer(context, { requestsPerMinute: 0 }).app;
  const client = await mcpClientOf(context, CALLER);
  onTestFinished(() => client.close());
  const commandLine = (...args: readonly string[]) =>
    helmdeckMemory(place, ["search", "--json", "--caller", CALLER, ...args]);
  return { place, memory, rest, client, commandLine };
}

type Answers = readonly (readonly [surface: string, answer: Record<string, unknown>])[];

/** Without `recall`, each surface uses its default. */
async function ask(
  { place, rest, client, commandLine }: Awaited<ReturnType<typeof surfaces>>,
  query: string,
  recall?: string,
): Promise<Answers> {
  const flag = recall === undefined ? [] : ["--recall", recall];
  const typed = ["search", "--json", query, ...flag];
  const asked = { query, ...(recall && { recall }) };
  const page = await rest.request(`/api/v1/memory/corpus?${new URLSearchParams(asked)}`);
  const { structuredContent } = await client.callTool({ name: "helmdeck__memory_corpus", arguments: asked });
  return [
    ["helmdeck-memory", JSON.parse((await commandLine(query, ...flag)).stdout)],
    ["openclaw helmdeck", JSON.parse((await openclawHelmdeck(place, typed, CALLER)).stdout)],
    ["REST", Object(await page.json())],
    ["MCP", Object(structuredContent)],
  ];
}

test("the recall setting has the same three values everywhere, with the same effect", async () => {
  const opened = await surfaces();
  await inTurn([...RECALL_MODES, undefined], async (mode) => {
    for (const [surface, { results, chunks }] of await ask(opened, QUERY, mode)) {
      expect(results ?? chunks, `${mode} on ${surface}`).toHaveLength(SHOWN[mode ?? "balanced"]);
    }
  });
});

test("an unknown recall setting is refused", async () => {
  const { place, rest, client, commandLine } = await surfaces();
  expect(await commandLine(QUERY, "--recall", "loud")).toMatchObject({ code: 2, stdout: "" });
  const typed = await openclawHelmdeck(place, ["search", QUERY, "--recall", "loud"], CALLER);
  expect(typed).toMatchObject({ code: 2, stderr: expect.stringContaining("balanced, quiet, eager") });
  const asked = { query: QUERY, recall: "loud" };
  expect((await rest.request(`/api/v1/memory/corpus?${new URLSearchParams(asked)}`)).status).toBe(400);
  expect(await client.callTool({ name: "helmdeck__memory_corpus", arguments: asked })).toMatchObject({
    isError: true,
  });
});

test("an empty answer reports what memory holds, as text and as a field, also with the quiet setting", async () => {
  const opened = await surfaces();
  for (const [query, recall] of [["zeppelin"], [QUERY, "quiet"]] as const) {
    for (const [surface, answer] of await ask(opened, query, recall)) {
      expect(answer, surface).toMatchObject({ unmatched: { facts: 4, audit_rows: 0 } });
      if ("chunks" in answer)
        expect(answer.note).toMatch(
          /^4 facts, none matched; my-memory lists them\. Semantic search is off: /,
        );
    }
  }
  const { stderr } = await openclawHelmdeck(opened.place, ["search", "zeppelin"], CALLER);
  expect(stderr).toContain("4 facts, none matched; openclaw helmdeck list shows the facts.");
  await opened.memory.forget(CALLER, { scope: "everything" });
  for (const [surface, answer] of await ask(opened, "zeppelin")) {
    expect(answer, surface).toMatchObject({ unmatched: { facts: 0, audit_rows: 0 } });
  }
});
