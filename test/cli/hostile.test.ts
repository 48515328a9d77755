/** Hostile keys and values are refused, or shown without effect on the terminal. No error repeats them. */
import { beforeAll, describe, expect, test } from "vitest";
import { finish } from "./command.ts";
import { actsOnATerminal, HOSTILE_TEXTS } from "./hostile-texts.ts";
import { InProcessHome } from "./in-process.ts";

const home = InProcessHome.forAllTests();

/** Expects no control characters in the output except line ends and tabs. */
function expectHarmless(...outputs: readonly string[]): void {
  for (const output of outputs) expect(actsOnATerminal(output, "\n\t")).toBe(false);
}

// verifies P-text-harmless
describe("a hostile value", () => {
  beforeAll(async () => {
    const lines = HOSTILE_TEXTS.map(([name, text]) =>
      JSON.stringify({ key: name, value: `begin ${text} end` }),
    );
    expect(await home.run(["import", "-"], { input: lines.join("\n") })).toMatchObject({ code: 0 });
  });

  test.each(HOSTILE_TEXTS)("with %s is stored exactly, and escaped by get", async (name, text) => {
    const shown = await home.run(["get", name]);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/begin [\s\S]* end/);
    expectHarmless(shown.stdout);
    const exact = await home.run(["get", name, "--json"]);
    expectHarmless(exact.stdout);
    expect(JSON.parse(exact.stdout)).toMatchObject({ value: `begin ${text} end` });
  });

  test("is escaped in list, search and export, in both outputs", async () => {
    for (const args of [
      ["list"],
      ["list", "--json"],
      ["search", "begin", "end"],
      ["search", "begin", "end", "--json"],
      ["export"],
    ]) {
      const { code, stdout, stderr } = await home.run(args);
      expect(code).toBe(0);
      expect(stdout.length).toBeGreaterThan(100);
      expectHarmless(stdout, stderr);
    }
  });

  test("that forges lines of a listing stays on its line", async () => {
    const forged = "x\n2099-01-01 00:00  never  user_facts  trust/me";
    await home.run(["store", "forger", "-"], { input: forged });
    expect((await home.run(["list"])).stdout).not.toMatch(/^\S.*trust\/me|^2099/m);
    expect((await home.run(["search", "trust", "forger"])).stdout).not.toMatch(/^2099/m);
  });
});

describe("a hostile key", () => {
  test.each(HOSTILE_TEXTS.filter(([, text]) => !text.includes("\u0000")))(
    "with %s is refused without being echoed",
    async (_name, text) => {
      const { code, stdout, stderr } = await home.run(["store", `k${text}k`, "value"]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(/^invalid_input: key [^\n]+\n$/);
      expectHarmless(stderr);
    },
  );

  test.each([
    ["empty", ""],
    ["only spaces", "   "],
    ["longer than 512 bytes", "ä".repeat(257)],
  ])("that is %s is refused", async (_name, key) => {
    const { code, stderr } = await home.run(["store", key, "value"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^invalid_input: key [^\n]+\n$/);
  });

  test.each([
    "pack_history/github.list_issues/00000000001700000000",
    "cache/x",
    "../../etc/passwd",
    "a//b",
    ".",
    "%2e%2e",
    "C:\\x",
  ])("%s is an ordinary fact of its own", async (key) => {
    expect(await home.run(["store", key, "harmless"])).toMatchObject({ code: 0 });
    expect(await home.run(["get", key])).toMatchObject({ code: 0, stdout: "harmless\n" });
    const found = JSON.parse((await home.run(["get", key, "--json"])).stdout);
    expect(found).toMatchObject({ key, category: "user_facts" });
    expect(await home.run(["forget", found.path, "--yes"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Deleted the fact /),
    });
  });
});

describe("a hostile category, tag, caller, scope, path", () => {
  test.each([
    ["category pack_history", ["--category", "pack_history"]],
    ["category with capitals", ["--category", "Team"]],
    ["category with a path", ["--category", "../x"]],
    ["tag with an escape sequence", ["--tag", "\u001b[31m"]],
    ["tag of 65 bytes", ["--tag", "t".repeat(65)]],
    ["33 tags", Array.from({ length: 33 }, (_none, index) => ["--tag", `t${index}`]).flat()],
    ["ttl of a minute", ["--ttl", "60"]],
    ["ttl of 366 days", ["--ttl", "366d"]],
    ["ttl that overflows", ["--ttl", "9999999999w"]],
  ])("%s is refused, by the policy", async (_name, options) => {
    const { code, stdout, stderr } = await home.run(["store", "refused", "v", ...options]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^invalid_input: [^\n]+\n$/);
    expectHarmless(stderr);
    expect(await home.run(["get", "refused"])).toMatchObject({ code: 1 });
  });

  test.each([
    ["list", "--caller", "a\u001b[2Jb"],
    ["get", "nothing", "--caller", "a\u001b[2Jb"],
    ["search", "zeppelin", "--caller", "a\u202eb"],
    ["forget", "key:\u001b[2J", "--yes"],
    ["forget", "\u001b]0;title\u0007", "--yes"],
    ["list", "--db", "/no/\u001b[2J/x.sqlite"],
    ["import", "/no/\u001b[2J.jsonl"],
    ["export", "--output", "/no/\u001b[2J.jsonl"],
    ["store", "k", "--value-file", "/no/\u001b[2J"],
    ["list", "--limit", "\u001b[2J"],
    ["\u001b[2J"],
    ["list", "--\u001b[2J"],
  ])("%s %s %s is told about harmlessly", async (...args) => {
    const { stdout, stderr } = await home.run(args.filter((arg) => arg !== undefined));
    expect(stdout + stderr).not.toBe("");
    expectHarmless(stdout, stderr);
    const json = await home.run([...args, "--json"]);
    expectHarmless(json.stdout, json.stderr);
  });
});

describe("an invalid value", () => {
  test.each([
    ["one byte more than 64 KiB", `${"x".repeat(64 * 1024)}y`, /65536/],
    ["empty", "", /value/],
    ["white space", " \n\t ", /value/],
    ["not UTF-8", Buffer.from([0x61, 0xff, 0xfe, 0x62]), /not UTF-8/],
  ])("%s is refused", async (_name, input, message) => {
    const { code, stdout, stderr } = await home.run(["store", "refused", "-"], { input });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^invalid_input: [^\n]+\n$/);
    expect(stderr).toMatch(message);
  });

  test("of 10 MB in a file is refused by its size, unread", async () => {
    await home.write("big.txt", "z".repeat(10 * 1024 * 1024));
    const { code, stderr } = await home.run(["store", "refused", "--value-file", "big.txt"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^invalid_input: big\.txt is too long: .*64 KiB/);
    expect(stderr).not.toContain("zzz");
  });

  test("of an endless stream is refused while it is read", async () => {
    const child = home.start(["store", "refused", "-"]);
    const ended = finish(child);
    child.stdin.on("error", () => {}); // The command closes the pipe early, as it should.
    const pour = () => {
      while (child.stdin.writable && child.stdin.write("z".repeat(64 * 1024)));
    };
    child.stdin.on("drain", pour);
    pour();
    expect(await ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^invalid_input: .*too long/),
    });
  });

  test.each([
    ["that does not exist", "missing.txt", /there is no such file/],
    ["that is a folder", ".", /it is a folder/],
  ])("a file %s", async (_name, file, message) => {
    const { code, stderr } = await home.run(["store", "refused", "--value-file", file]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^invalid_input: Cannot read [^\n]+\n$/);
    expect(stderr).toMatch(message);
  });

  test("none of these was stored", async () => {
    expect(await home.run(["get", "refused"])).toMatchObject({ code: 1 });
  });
});
