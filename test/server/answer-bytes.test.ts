/** No answer over MCP is longer than clients take, and with its cursors a client still gets everything that is stored. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { FormerView } from "../../app/memory.ts";
import { createMcpServer } from "../../server/mcp/mcp-server.ts";
import { makeMcpService } from "../../server/mcp/mcp-service.ts";
import { WholeServer } from "./fixtures/whole-server.ts";

const MOST_BYTES = 60_000;
const CALLER = { subject: "ada", authenticated: true, scopes: [] };
/** The largest value is 64 KiB. These grow differently as JSON, and as JSON within JSON. */
const LARGEST = ['"', "\\", "\n", "😀", "é", "字", "x", "word by word\n"].map((one) => {
  return one
    .repeat(Math.floor(65_535 / Buffer.byteLength(one)) - 1)
    .replace(/\s$/, ".")
    .replace(/^\s/, ".");
});
const TAGS = Array.from({ length: 32 }, (_, at) => `${at}`.padEnd(64, '"'));
const NAMES = '"'.repeat(440);
const keyOf = (at: number) => `large/${NAMES}${at}`;

type Json = Record<string, unknown>;
type Part = { readonly from: number; readonly to: number; readonly of: number };

let whole: WholeServer;
beforeAll(async () => {
  whole = await WholeServer.open();
  const { memory } = whole.serverContext;
  for (const [at, value] of LARGEST.entries())
    await memory.storeFact("ada", { key: keyOf(at), value, tags: TAGS, category: "c".padEnd(64, `${at}`) });
  const small = (at: number) => ({
    key: `${NAMES}/${at}`,
    value: `note ${at} of the zebra`,
    tags: TAGS.slice(0, 4),
  });
  await memory.storeFacts("ada", {
    facts: Array.from({ length: 150 }, (_, at) => small(at)),
    similar: false,
  });
  for (const [at, value] of [...LARGEST, "last", "the last"].entries())
    await memory.storeFact("ada", { key: "often", value: `${at}${value.slice(2)}`, tags: TAGS });
  for (let at = 0; at < 9; at += 1)
    await memory.storeFact("ada", { key: `old/${at}`, value: LARGEST[at % LARGEST.length] ?? "" });
  await memory.storeFact("ada", {
    key: "new",
    value: "short",
    supersedes: Array.from({ length: 9 }, (_, at) => `old/${at}`),
  });
  await memory.storeFact("ada", { key: "huge", value: "short" });
  await memory.storeFact("ada", { key: "huge", value: LARGEST[6] ?? "" });
  for (let at = 0; at < 200; at += 1)
    await memory.storeFact("bea", { key: `${NAMES}/${at}`, value: "v", category: `${at}`.padEnd(64, "c") });
}, 120_000);
afterAll(() => whole.close());

interface Asking {
  readonly client: Client;
  /** The bytes of each message that the server sent. */
  readonly sent: number[];
}

async function connect(memoryOnly: boolean, caller = CALLER): Promise<Asking> {
  const service = makeMcpService(whole.serverContext, { memoryOnly });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const sent: number[] = [];
  const send = ours.send.bind(ours);
  ours.send = (message, options) => {
    sent.push(Buffer.byteLength(JSON.stringify(message)));
    return send(message, options);
  };
  const client = new Client({ name: "test", version: "1.0.0" });
  await Promise.all([createMcpServer(service, caller).connect(ours), client.connect(theirs)]);
  await client.listTools(); // the client then checks answers by their schemas
  sent.length = 0;
  onTestFinished(async () => {
    await client.close();
    service.watch.close();
  });
  return { client, sent };
}

async function call({ client, sent }: Asking, name: string, args: Json): Promise<Json> {
  const request = { name: `helmdeck__memory_${name}`, arguments: args };
  const { content, isError } = (await client.callTool(request)) as CallToolResult;
  expect(sent.at(-1)).toBeLessThanOrEqual(MOST_BYTES);
  const text = content[0]?.type === "text" ? content[0].text : "";
  expect([isError, text.slice(0, 200)]).toEqual([undefined, expect.any(String)]);
  return JSON.parse(text);
}

/** All items of all pages; cut texts are put together again. */
async function walk(
  asking: Asking,
  name: string,
  args: Json,
  [items, text]: readonly [string | undefined, string],
) {
  const all: Json[] = [];
  let cursor: unknown;
  do {
    const page = await call(asking, name, { ...args, ...(cursor !== undefined && { cursor }) });
    for (const { part, next_cursor: _, ...item } of (items === undefined ? [page] : page[items]) as Json[]) {
      const { from = 0 } = (part ?? {}) as Partial<Part>;
      const before = from === 0 ? undefined : all.pop();
      expect(String(before?.[text] ?? "")).toHaveLength(from);
      all.push({ ...item, [text]: `${before?.[text] ?? ""}${item[text]}` });
    }
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return all;
}

describe.each([
  ["memory alone", true],
  ["everything", false],
])("if %s is listed", (_, memoryOnly) => {
  const stored = async () => (await whole.serverContext.memory.listFacts("ada", { limit: 1_000 })).facts;

  test.each([{ limit: 1_000 }, { limit: "1" }])("list with %j gives every fact, whole", async (args) => {
    const facts = await walk(await connect(memoryOnly), "list", args, ["facts", "value"]);
    const kept = await stored();
    expect(facts.map(({ key, value }) => [key, value])).toEqual(kept.map(({ key, value }) => [key, value]));
  });

  test.each([{}, { limit: 1 }])("corpus with %j gives every document, whole", async (args) => {
    const chunks = await walk(await connect(memoryOnly), "corpus", args, ["chunks", "content"]);
    const { chunks: expected } = await whole.serverContext.memory.corpusPage("ada", { limit: 100 });
    const kept = await stored();
    expect(chunks.map(({ title }) => title).sort()).toEqual(kept.map(({ key }) => key).sort());
    for (const { docid, content } of expected)
      expect(chunks.find((one) => one.docid === docid)?.content).toBe(content);
  });

  test("get and history give every value, whole", async () => {
    const asking = await connect(memoryOnly);
    for (const { key, value } of (await stored()).filter((fact) => fact.value.length > 10_000)) {
      const parts = await walk(asking, "get", { key }, [undefined, "value"]);
      expect(parts).toEqual([expect.objectContaining({ key, value })]);
    }
    for (const key of ["often", "new"]) {
      const former = await walk(asking, "history", { key }, ["former", "value"]);
      const history = await whole.serverContext.memory.factHistory("ada", { key });
      const valuesOf = (values: readonly FormerView[] = []) => values.map((one) => [one.key, one.value]);
      expect(former.map((one) => [one.key, one.value])).toEqual(valuesOf(history?.former));
    }
  });

  test("search and a ranked corpus give every hit", async () => {
    const asking = await connect(memoryOnly);
    const query = "note of the zebra";
    const { results } = await whole.serverContext.memory.search("ada", { query, limit: 50 });
    const hits = await walk(asking, "search", { query, limit: 50 }, ["results", "snippet"]);
    expect(hits.map(({ key }) => key)).toEqual(results.map(({ key }) => key));
    const chunks = await walk(asking, "corpus", { query, limit: 50 }, ["chunks", "content"]);
    expect(chunks.map(({ title }) => title)).toEqual(results.map(({ key }) => key));
  });

  test("store, renew, pin and forget answer shortly, and say what they leave out", async () => {
    const asking = await connect(memoryOnly);
    for (const at of LARGEST.keys()) {
      const [key, value] = [keyOf(at), LARGEST[at] ?? ""];
      const answers = [
        await call(asking, "renew", { key }),
        await call(asking, "pin", { key, pinned: false }),
      ];
      for (const answer of answers) {
        expect(answer).toMatchObject({ key, part: { from: 0, of: value.length } });
        expect(value.startsWith(String(answer.value))).toBe(true);
      }
    }
    await call(asking, "store", { key: "same", value: "note 3 of the zebra", tags: TAGS });
    await call(asking, "forget", { scope: "same" });
    await call(asking, "forget", { scope: "all", dry_run: true });
    await call(asking, "forget", { scope: `${NAMES}/4000` });
  });

  test("undo shows the restored facts shortly, and refuses what its answer could not keep", async () => {
    const asking = await connect(memoryOnly);
    const { memory } = whole.serverContext;
    const { undone, restored } = await call(asking, "undo", { key: "new" });
    expect(undone).toMatchObject({ key: "new", value: "short" });
    expect(restored).toEqual(
      Array.from({ length: 9 }, () =>
        expect.objectContaining({ part: expect.objectContaining({ from: 0 }) }),
      ),
    );
    await memory.storeFact("ada", {
      key: "new",
      value: "short",
      supersedes: Array.from({ length: 9 }, (_, at) => `old/${at}`),
    });
    const refused = asking.client.callTool({ name: "helmdeck__memory_undo", arguments: { key: "huge" } });
    expect(await refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^too_large: /) }],
    });
    expect((await memory.getFact("ada", { key: "huge" }))?.value).toBe(LARGEST[6]);
  });

  test("the summaries say that there is more", async () => {
    const { client, sent } = await connect(memoryOnly, { ...CALLER, subject: "bea" });
    const { contents } = await client.readResource({ uri: "helmdeck://my-memory" });
    expect(sent.at(-1)).toBeLessThanOrEqual(MOST_BYTES);
    expect(contents).toMatchObject([
      { text: expect.stringContaining("There is more than one answer can hold.") },
    ]);
  });

  test.each(["~", "~e30", "x", 5, "~WzEsMl0"])(
    "a cursor that no answer gave is refused: %j",
    async (cursor) => {
      const { client } = await connect(memoryOnly);
      for (const name of ["get", "history", "list"]) {
        const args = { cursor, ...(name !== "list" && { key: "often" }) };
        const refused = await client.callTool({ name: `helmdeck__memory_${name}`, arguments: args });
        expect(refused).toMatchObject({
          isError: true,
          content: [{ text: expect.stringMatching(/^invalid_input: /) }],
        });
      }
    },
  );
});
