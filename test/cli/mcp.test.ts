/** `helmdeck-memory mcp` as a process: what goes to which stream, how it ends, and what it says when memory does not open. */
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CommandHome, finish } from "./command.ts";

let home: CommandHome;
beforeEach(() => {
  home = new CommandHome();
});
afterEach(() => home.remove());

const HELLO = [
  {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "pipe", version: "1" } },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
];

function callOf(id: number, name: string, args: object): object {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } };
}

function linesOf(messages: readonly object[]): string {
  return messages.map((message) => `${JSON.stringify(message)}\n`).join("");
}

interface Answer {
  readonly id: number;
  readonly result: {
    readonly isError?: boolean;
    readonly content: readonly { readonly text: string }[];
    readonly tools: readonly { readonly name: string }[];
  };
}

/** Each line of stdout, every one of which must be a message of the protocol. */
function answersIn(stdout: string): readonly Answer[] {
  const messages = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  for (const message of messages) expect(message.jsonrpc).toBe("2.0");
  return messages;
}

test("a fact stored over MCP is the caller's, in the shell too, and everything but the protocol is on stderr", async () => {
  const input = linesOf([...HELLO, callOf(2, "helmdeck__memory_store", { key: "tea", value: "oolong" })]);
  const ended = await home.run(["mcp", "--caller", "work"], { input });
  expect(ended).toMatchObject({ code: 0, signal: null });
  expect(answersIn(ended.stdout).map(({ id, result }) => [id, result.isError])).toEqual([
    [1, undefined],
    [2, undefined],
  ]);
  expect(ended.stderr).toMatch(/^helmdeck-memory mcp: serving the memory of work, in .*memory\.sqlite/);
  expect(ended.stderr).not.toContain("oolong");
  expect((await home.run(["get", "tea", "--caller", "work"])).stdout).toBe("oolong\n");
  expect(await home.run(["get", "tea"])).toMatchObject({ code: 1 });
});

test("a key that does not belong to the database: the tools are there, and their answers and stderr say why", async () => {
  await home.run(["store", "tea", "oolong"]);
  const input = linesOf([
    ...HELLO,
    { jsonrpc: "2.0", id: 2, method: "tools/list" },
    callOf(3, "helmdeck__memory_store", { key: "tea", value: "assam" }),
  ]);
  const env = { HELMDECK_MEMORY_KEY: "5".repeat(64) };
  const ended = await home.run(["mcp"], { input, env });
  expect(ended.code).toBe(0);
  const [, list, store] = answersIn(ended.stdout);
  expect(list?.result.tools.map(({ name }) => name)).toContain("helmdeck__memory_store");
  expect(store?.result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^memory_unavailable: .*key_wrong/) }],
  });
  expect(ended.stderr).toContain("WITHOUT MEMORY. key_wrong: ");
  expect((await home.run(["get", "tea"])).stdout).toBe("oolong\n");
});

test("a signal ends it cleanly while its input stays open", async () => {
  const child = home.start(["mcp"]);
  const ended = finish(child);
  child.stdin.write(linesOf(HELLO));
  await once(createInterface({ input: child.stdout }), "line");
  child.kill("SIGTERM");
  expect(await ended).toMatchObject({ code: 0, signal: null });
});

test("it ends when its client has gone without a word", async () => {
  const child = home.start(["mcp"]);
  const ended = once(child, "exit");
  child.stdin.on("error", () => {});
  child.stdin.write(linesOf(HELLO));
  await once(createInterface({ input: child.stdout }), "line");
  child.stdout.destroy();
  child.stderr.destroy();
  child.stdin.destroy();
  expect(await ended).toEqual([0, null]);
});
