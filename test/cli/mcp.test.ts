/** `helmdeck-memory mcp` as a process: its output streams, how it ends, and its messages if memory does not open. */
import { once } from "node:events";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { whyNotUnprivileged } from "../run/unprivileged.ts";
import { BUNDLED_COMMAND, COMMAND_FROM_SOURCE, CommandHome, finish } from "./command.ts";
import { callOf, HELLO, linesOf } from "./mcp-lines.ts";

const home = CommandHome.forEachTest();

interface Answer {
  readonly id: number;
  readonly result: {
    readonly isError?: boolean;
    readonly content: readonly { readonly text: string }[];
    readonly tools: readonly { readonly name: string }[];
  };
}

/** Parses each line of stdout, which must all be MCP messages. */
function answersIn(stdout: string): readonly Answer[] {
  const messages = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  for (const message of messages) expect(message.jsonrpc).toBe("2.0");
  return messages;
}

test("a fact stored over MCP belongs to the caller, also in the shell, and only the protocol is on stdout", async () => {
  const input = linesOf([...HELLO, callOf(2, "helmdeck__memory_store", { key: "tea", value: "oolong" })]);
  const ended = await home.run(["mcp", "--caller", "work"], { input });
  expect(ended).toMatchObject({ code: 0, signal: null });
  expect(answersIn(ended.stdout).map(({ id, result }) => [id, result.isError])).toEqual([
    [1, undefined],
    [2, undefined],
  ]);
  expect(ended.stderr).toMatch(/^helmdeck-memory mcp: serving the memory of work, in .*memory\.sqlite/);
  expect(ended.stderr).toContain("It is empty: nothing was stored there yet.");
  expect((await home.run(["mcp"])).stderr).not.toContain("empty");
  expect(ended.stderr).not.toContain("oolong");
  expect((await home.run(["get", "tea", "--caller", "work"])).stdout).toBe("oolong\n");
  expect(await home.run(["get", "tea"])).toMatchObject({ code: 1 });
});

test("with another database's key the tools are listed, and their answers and stderr name the problem", async () => {
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
  expect(ended.stderr).toContain("serving WITHOUT MEMORY. key_wrong: ");
  expect((await home.run(["get", "tea"])).stdout).toBe("oolong\n");
});

const TOO_LONG = "x".repeat(300);
test.each([
  ["is a file", "file", "leads through a file"],
  ["lies under a file", "file/sub", "leads through a file"],
  ["is a loop of links", "loop", "symbolic links that form a loop"],
  ["has too long a name", TOO_LONG, "longer than its file system allows"],
])("where the state folder %s, each call and command says so", async (_, name, why) => {
  await home.write("file", "");
  symlinkSync("loop", home.path("loop"));
  const env = { OPENCLAW_STATE_DIR: home.path(name) };
  const input = linesOf([...HELLO, callOf(2, "helmdeck__memory_corpus", { query: "tea" })]);
  const ended = await home.run(["mcp"], { input, env });
  expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining(why) });
  expect(answersIn(ended.stdout)[1]?.result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining(why) }],
  });
  for (const command of [["list"], ["store", "tea", "oolong"], ["status"], ["doctor"]]) {
    const { code, stdout, stderr } = await home.run(command, { env });
    expect({ code, said: stdout + stderr }).toEqual({ code: 1, said: expect.stringContaining(why) });
    expect(stdout + stderr).toMatch(/store_unavailable/);
  }
});

// verifies P-durable-full-disk
test("with storage that cannot be written, answers searches and refuses stores, until it can be written", async ({
  skip,
}) => {
  skip(whyNotUnprivileged !== undefined, whyNotUnprivileged);
  await home.run(["store", "tea", "oolong"]);
  home.handToUnprivileged();
  const folder = join(home.stateFolder, "helmdeck-memory");
  chmodSync(folder, 0o500);
  const child = home.start(["mcp"]);
  const ended = finish(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (...messages: readonly object[]) => {
    child.stdin.write(linesOf(messages));
    return (await lines.next()).value ?? "";
  };
  await ask(...HELLO);
  const search = (id: number) => ask(callOf(id, "helmdeck__memory_corpus", { query: "oolong" }));
  const store = (id: number) => ask(callOf(id, "helmdeck__memory_store", { key: "milk", value: "oat" }));
  expect(await search(2)).toContain("oolong");
  expect(await store(3)).toContain("store_readonly");
  expect(await search(4)).toContain("tea");
  chmodSync(folder, 0o700);
  expect(await store(5)).not.toContain("isError");
  child.stdin.end();
  expect(await ended).toMatchObject({ code: 0, stderr: expect.stringContaining("only answers reads") });
  expect((await home.run(["get", "milk"])).stdout).toBe("oat\n");
});

const ASK_FOR_TOOLS = linesOf([...HELLO, { jsonrpc: "2.0", id: 2, method: "tools/list" }]);

function namesIn(stdout: string): readonly string[] {
  return (
    answersIn(stdout)
      .at(-1)
      ?.result.tools.map(({ name }) => name) ?? []
  );
}

test("only memory tools are listed by default", async () => {
  const alone = await home.run(["mcp"], { input: ASK_FOR_TOOLS });
  expect(namesIn(alone.stdout).filter((name) => !name.startsWith("helmdeck__memory_"))).toEqual([]);
  expect(namesIn(alone.stdout)).toHaveLength(10);
});

/** The bundle has no folder for the pipelines. */
test.each([
  ["bundled", BUNDLED_COMMAND],
  ["from its sources", COMMAND_FROM_SOURCE],
])("%s, the program serves the packs and pipelines that ship", async (_, entry) => {
  const shipped = new CommandHome(entry);
  onTestFinished(() => shipped.remove());
  const { code, stdout } = await shipped.run(["mcp", "--packs"], { input: ASK_FOR_TOOLS });
  expect(code).toBe(0);
  expect(namesIn(stdout)).toContain("swe__solve");
  const inputSchema = expect.objectContaining({ required: ["owner", "repo"] });
  expect(answersIn(stdout).at(-1)?.result.tools).toContainEqual(
    expect.objectContaining({ name: "pipeline__github__o_7140a0", inputSchema }),
  );
});

test("a user's own pack is listed and runs, and an invalid one is refused with its file name", async () => {
  const folder = home.path("packs");
  mkdirSync(folder, { mode: 0o700 });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 });
  write(
    "mine.mjs",
    `export default ({ z }) => ({ name: "mine.greet", version: "1.0.0", description: "Greets.", input: z.object({ who: z.string() }),
      output: z.object({ text: z.string() }), run: async (ec, { who }) => ({ text: "Hello " + who }) });`,
  );
  const input = `${ASK_FOR_TOOLS}${linesOf([callOf(3, "mine__greet", { who: "Ada" })])}`;
  const ended = await home.run(["mcp", "--packs-from", folder], { input });
  const [, list, greeted] = answersIn(ended.stdout);
  expect(list?.result.tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["mine__greet", "swe__solve"]),
  );
  expect(greeted?.result).toMatchObject({ structuredContent: { text: "Hello Ada" } });
  write("broken.mjs", "export default {");
  for (const command of ["mcp", "serve"]) {
    const refused = await home.run([command, "--packs-from", folder], { input: "" });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(
      /invalid_input: .*broken\.mjs cannot be loaded: SyntaxError: Unexpected end of input/,
    );
  }
});

test("ends cleanly on a signal while its input stays open", async () => {
  const child = home.start(["mcp"]);
  const ended = finish(child);
  child.stdin.write(linesOf(HELLO));
  await once(createInterface({ input: child.stdout }), "line");
  child.kill("SIGTERM");
  expect(await ended).toMatchObject({ code: 0, signal: null });
});

test("ends when its client disappears", async () => {
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
