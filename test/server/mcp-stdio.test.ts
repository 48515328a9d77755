/** MCP over standard streams: only the protocol on stdout, and a shutdown that completes accepted requests. */
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ServerContext } from "../../packs/server-context.ts";
import { memoryPack } from "../../packs/shipped/memory-packs.ts";
import { serveMcpOverStdio } from "../../server/mcp/mcp-over-stdio.ts";
import { openTestMemory } from "../app/fixtures/memories.ts";
import { SlowPack, testServerContext } from "./fixtures/mcp-context.ts";

const MAIN = { subject: "main", authenticated: true, scopes: [] };

const HELLO = [
  {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "pipe", version: "1" } },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
];

/** One server on streams that the test controls. */
class Piped {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stop = new AbortController();
  nonsense = 0;
  readonly ended: Promise<void>;
  readonly #out: Buffer[] = [];

  constructor(serverContext: ServerContext) {
    const { stdin, stdout, stop } = this;
    stdout.on("data", (chunk: Buffer) => this.#out.push(chunk));
    const onNonsense = () => {
      this.nonsense += 1;
    };
    this.ended = serveMcpOverStdio(serverContext, MAIN, { stdin, stdout, signal: stop.signal, onNonsense });
  }

  send(...messages: readonly (object | string)[]): void {
    for (const message of messages)
      this.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  }

  /** Every line of stdout. Each must be an MCP message. */
  messages(): readonly { readonly jsonrpc: string; readonly id?: number; readonly result?: unknown }[] {
    const text = Buffer.concat(this.#out).toString("utf8");
    return text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }
}

function callOf(id: number, name: string, args: object): object {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } };
}

test("accepted requests are finished and answered when the input ends", async () => {
  const memory = await openTestMemory();
  const pack = new SlowPack();
  const piped = new Piped(testServerContext({ memory, packs: [memoryPack("store", memory), pack] }));
  piped.send(...HELLO, callOf(2, "helmdeck__memory_store", { key: "tea", value: "oolong" }));
  piped.send(callOf(3, "paint__slow_wall", { theme: "blue" }));
  await pack.begun;
  const ended = once(piped.stdin, "end");
  piped.stdin.end();
  await ended;
  await setImmediate(); // the shutdown after the end of the input has started
  pack.letGo();
  await piped.ended;
  const answers = piped.messages().toSorted((one, other) => Number(one.id) - Number(other.id));
  expect(answers.map(({ jsonrpc, id }) => [jsonrpc, id])).toEqual([
    ["2.0", 1],
    ["2.0", 2],
    ["2.0", 3],
  ]);
  expect(answers[2]?.result).toMatchObject({ structuredContent: { theme: "blue" } });
  expect((await memory.getFact("main", { key: "tea" }))?.value).toBe("oolong");
});

test("lines that are not messages are counted and not answered, and the server continues", async () => {
  const memory = await openTestMemory();
  const piped = new Piped(testServerContext({ memory, packs: [memoryPack("store", memory)] }));
  piped.send(...HELLO, "SECRET: not json", '{"jsonrpc":"1.0"}', { jsonrpc: "2.0", id: 2, method: "ping" });
  piped.stdin.end();
  await piped.ended;
  expect(piped.nonsense).toBe(2);
  expect(piped.messages().map(({ id }) => id)).toEqual([1, 2]);
});

test("an endless line is dropped before it exhausts the machine's memory", async () => {
  const piped = new Piped(testServerContext({ memory: await openTestMemory() }));
  piped.stdin.write("x".repeat(11 * 1_024 * 1_024));
  await piped.ended;
  expect(piped.nonsense).toBe(1);
});

test.each<[string, (piped: Piped) => unknown]>([
  ["a signal cancels the running pack, which", ({ stop }) => stop.abort()],
  ["the server does not wait for a client that stops reading, whose run", ({ stdout }) => stdout.destroy()],
])("%s leaves an audit row", async (_, end) => {
  const memory = await openTestMemory();
  const pack = new SlowPack();
  const serverContext = testServerContext({ memory, packs: [pack] });
  const piped = new Piped(serverContext);
  piped.send(...HELLO, callOf(2, "paint__slow_wall", { theme: "blue" }));
  await pack.begun;
  end(piped);
  await piped.ended;
  await serverContext.packs.close();
  const { recent } = await memory.defaults("main");
  expect(recent.map(({ id, outcome }) => [id, outcome])).toEqual([["paint.slow_wall", "cancelled"]]);
  expect(piped.messages().map(({ id }) => id)).toEqual([1]);
});

test("a client that speaks only 2026-07-28 is told the versions that are spoken, and nothing is done for it", async () => {
  const memory = await openTestMemory();
  const piped = new Piped(testServerContext({ memory, packs: [memoryPack("store", memory)] }));
  const params = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };
  const store = { name: "helmdeck__memory_store", arguments: { key: "tea", value: "oolong" } };
  piped.send(
    { jsonrpc: "2.0", id: 7, method: "server/discover", params },
    { jsonrpc: "2.0", id: 8, method: "tools/call", params: { ...store, ...params } },
    ...HELLO,
  );
  piped.stdin.end();
  await piped.ended;
  const refused = {
    error: {
      code: -32_022,
      data: { requested: "2026-07-28", supported: expect.arrayContaining(["2025-11-25"]) },
    },
  };
  expect(piped.messages()).toMatchObject([
    { id: 7, ...refused },
    { id: 8, ...refused },
    { id: 1, result: { protocolVersion: "2025-06-18" } },
  ]);
  expect((await memory.listFacts("main", {})).facts).toEqual([]);
});
