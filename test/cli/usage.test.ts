/** Usage errors: exit code 2, one line with a remedy, and never the typed value. */
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { BUNDLED_COMMAND, COMMAND_FROM_SOURCE, CommandHome } from "./command.ts";
import { InProcessHome } from "./in-process.ts";

const home = InProcessHome.forAllTests();

const SECRET = "hunter2-correct-horse";

describe("a wrong command line", () => {
  const WRONG: readonly (readonly [string, readonly string[], RegExp])[] = [
    ["an unknown command", ["remember", "x"], /no such command: 'remember'/],
    ["a command of a later version", ["replicate"], /no such command: 'replicate'/],
    ["a misspelt command", ["serch", "x"], /did you mean search\?/],
    ["help for a misspelt command", ["help", "sotre"], /'sotre' \(did you mean store\?\)/],
    ["a word for a command", ["remember", "x"], /did you mean store\?/],
    ["another word for a command", ["delete", "x"], /did you mean forget\?/],
    ["a command with a name that every object has", ["constructor"], /'constructor'\. See/],
    ["a misspelt option", ["list", "--limt", "3"], /'--limt' \(did you mean --limit\?\)/],
    ["store without a key", ["store"], /Missing required argument 'key'/],
    ["store without a value", ["store", "deploy konflux"], /The value is missing: write it after the key/],
    ["store with two values", ["store", "k", "v", "--value-file", "f"], /Give the value once/],
    [
      "a ttl that is no span of time",
      ["store", "k", "v", "--ttl", "soon"],
      /Write seconds or a span such as/,
    ],
    ["a negative ttl", ["store", "k", "v", "--ttl=-1"], /Write seconds or a span such as/],
    ["get without a key", ["get"], /Missing required argument 'key'/],
    ["get with two keys", ["get", "a", "b"], /Expected 1 argument but got 2/],
    ["search without words", ["search"], /Missing required argument 'query'/],
    ["search with spaces for words", ["search", "  "], /Give the words to search for/],
    ["a limit of zero", ["search", "x", "--limit", "0"], /whole number from 1/],
    ["a limit that is no number", ["list", "--limit", "many"], /whole number from 1/],
    ["forget without a scope", ["forget"], /Missing required argument 'scope'/],
    ["an empty caller", ["list", "--caller", ""], /must not be empty/],
    ["a caller of spaces", ["list", "--caller", "  "], /must not be empty/],
    ["an empty database path", ["list", "--db="], /must not be empty/],
    ["import without a file", ["import"], /Missing required argument 'file'/],
    ["an index memory of nothing", ["serve", "--index-memory", "0"], /whole number of MiB from 1/],
    ["doctor with an argument", ["doctor", "please"], /Expected 0 arguments but got 1/],
  ];

  test.each(WRONG)("%s", async (_name, args, message) => {
    const { code, stdout, stderr } = await home.run(args);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^invalid_input: [^\n]+--help[^\n]+\n$/);
    expect(stderr).toMatch(message);
  });

  test.each([
    [["--caller", "work", "store"], "helmdeck-memory store --help"],
    [["add"], "helmdeck-memory store --help"],
    [["serch"], "helmdeck-memory --help"],
    [["model", "instal"], "helmdeck-memory model --help"],
  ])("%j names the help that explains it", async (args, help) => {
    const { stderr } = await home.run(args);
    expect(stderr).toMatch(new RegExp(` See ${help}\\.\n$`));
  });

  test("with --json is reported as one object on stderr", async () => {
    const { code, stdout, stderr } = await home.run(["search", "--json"]);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(JSON.parse(stderr)).toEqual({
      error: "invalid_input",
      message: expect.stringMatching(/^Missing required argument 'query'/),
    });
  });

  test("without a command prints the help on stderr", async () => {
    const { code, stdout, stderr } = await home.run([]);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain("Usage: helmdeck-memory");
  });

  test.each([
    ["unquoted", ["store", "k", "the", "password", "is", SECRET]],
    ["beginning with a dash", ["store", "k", `-${SECRET}`]],
    ["looking like a private key", ["store", "k", `-----BEGIN PRIVATE KEY----- ${SECRET}`]],
    ["given to an option that does not exist", ["store", "k", `--valu=${SECRET}`]],
    ["in place of the command", [`${SECRET} and more`]],
  ])("never repeats a value that was %s", async (_name, args) => {
    const { code, stdout, stderr } = await home.run(args);
    expect(code).toBe(2);
    expect(stdout + stderr).not.toContain(SECRET);
  });
});

describe("the command from its sources", () => {
  test("works as the bundled one does", async () => {
    const fromSource = new CommandHome(COMMAND_FROM_SOURCE);
    try {
      expect(await fromSource.run(["store", "k", "the heron stands"])).toMatchObject({ code: 0, stderr: "" });
      expect((await fromSource.run(["search", "heron"])).stdout).toContain("the heron stands");
      expect(await fromSource.run(["--help"])).toEqual(await home.run(["--help"]));
    } finally {
      fromSource.remove();
    }
  });
});

describe("a Node that is too old", () => {
  test("is told about in one line", () => {
    const older = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "24.15.9" } });`;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--import", `data:text/javascript,${encodeURIComponent(older)}`, BUNDLED_COMMAND, "list"],
      { encoding: "utf8" },
    );
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^runtime_unsupported: helmdeck-memory needs Node 24\.16 or later; [^\n]+\n$/);
  });
});

describe("requested help", () => {
  test("--version prints the package's version", async () => {
    expect(await home.run(["--version"])).toMatchObject({
      code: 0,
      stdout: `${manifest.version}\n`,
      stderr: "",
    });
  });

  test.each(["store", "get", "list", "search", "forget", "import", "export", "doctor"])(
    "%s --help explains its arguments, the shared options and gives examples",
    async (command) => {
      const { code, stdout, stderr } = await home.run([command, "--help"]);
      expect(code).toBe(0);
      expect(stderr).toBe("");
      expect(stdout).toContain(`Usage: helmdeck-memory ${command}`);
      for (const option of ["--json", "--caller <subject>", "--db <path>"]) expect(stdout).toContain(option);
      expect(stdout).toMatch(new RegExp(`Examples:\n  \\$ .*helmdeck-memory ${command}`));
    },
  );

  test("store's help says that arguments can be seen by others", async () => {
    const { stdout } = await home.run(["store", "--help"]);
    expect(stdout).toMatch(/\(ps\):\s+for\s+sensitive\s+text\s+use\s+-\s+or\s+--value-file/);
  });
});
