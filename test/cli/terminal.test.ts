/** Terminal-only behaviour: colours, questions and hints. */
import { stripVTControlCharacters } from "node:util";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CommandHome } from "./command.ts";
import { actsOnATerminal } from "./hostile-texts.ts";
import { runOnTerminal, runPiped, type TerminalOptions } from "./terminal.ts";

const home = CommandHome.forAllTests();

const terminal = (args: readonly string[], options: Partial<TerminalOptions> = {}) =>
  runOnTerminal(args, { homeFolder: home.folder, ...options });
const piped = (args: readonly string[], options: Partial<TerminalOptions> = {}) =>
  runPiped(args, { homeFolder: home.folder, ...options });

const COLOUR = "\u001b[";

beforeAll(async () => {
  await piped(["store", "deploy/konflux", "We deploy through Konflux", "--tag", "deployment"]);
});

describe("colours", () => {
  test.each([["list"], ["search", "konflux"], ["doctor"]])(
    "%s is coloured on a terminal unless NO_COLOR is set; it says the same in a pipe, without colours, even if FORCE_COLOR asks for them",
    async (...args) => {
      const { stdout } = await terminal(args);
      expect(stdout).toContain(COLOUR);
      const inPipe = await piped(args, { env: { FORCE_COLOR: "1" } });
      expect(inPipe.stdout).not.toContain(COLOUR);
      expect(stripVTControlCharacters(stdout)).toBe(inPipe.stdout);
      expect((await terminal(args, { env: { NO_COLOR: "1" } })).stdout).not.toContain(COLOUR);
    },
  );

  test("JSON has none", async () => {
    expect((await terminal(["search", "konflux", "--json"])).stdout).not.toContain(COLOUR);
    expect((await terminal(["get", "nothing", "--json"])).stderr).not.toContain(COLOUR);
  });

  test("an error is a sentence; its code is for programs", async () => {
    expect((await terminal(["get", "nothing"])).stderr).toMatch(/^There is no fact/);
    expect((await piped(["get", "nothing"])).stderr).toMatch(/^not_found: There is no fact/);
  });
});

describe("a new key", () => {
  test("is announced once, with what to do; a script sees nothing of it", async () => {
    const fresh = new CommandHome();
    const scripted = new CommandHome();
    try {
      const store = ["store", "k", "v"];
      const first = await runOnTerminal(store, { homeFolder: fresh.folder });
      expect(first.stderr).toBe(
        `Created the encryption key ${fresh.keyPath}. Keep a copy of the key in a safe place, apart from the database: without it nothing can be read. Then run: helmdeck-memory key saved COPY\n`,
      );
      expect((await runOnTerminal(store, { homeFolder: fresh.folder })).stderr).toBe("");
      expect((await runPiped(store, { homeFolder: scripted.folder })).stderr).toBe("");
    } finally {
      await Promise.all([fresh.remove(), scripted.remove()]);
    }
  });
});

describe("get on a terminal", () => {
  test("prints details to stderr, and only the value to stdout", async () => {
    const { stdout, stderr } = await terminal(["get", "deploy/konflux"]);
    expect(stdout).toBe("We deploy through Konflux\n");
    expect(stripVTControlCharacters(stderr)).toMatch(
      /^fact "deploy\/konflux" in user_facts, stored \d{4}-\d\d-\d\d \d\d:\d\d by you, on a command line · tags deployment · expires in 90 days\n$/,
    );
  });

  test("hides nothing behind a hostile value", async () => {
    await piped(["store", "hostile", "-"], { typed: "\u001b[2Jgone\u009b1A" });
    const { stdout } = await terminal(["get", "hostile"]);
    expect(actsOnATerminal(stdout, "\n")).toBe(false);
    expect(stdout).toContain("gone");
  });
});

describe("store - on a terminal", () => {
  test("says how to end the typing", async () => {
    const { code, stderr } = await terminal(["store", "typed", "-"], { typed: "typed by hand\n" });
    expect(code).toBe(0);
    expect(stderr).toContain("Ctrl-D");
    expect((await piped(["get", "typed"])).stdout).toBe("typed by hand\n");
  });
});

describe("forget on a terminal", () => {
  const keysLeft = async () => {
    const { stdout } = await piped(["list", "doomed/", "--json"]);
    return (JSON.parse(stdout) as { facts: { key: string }[] }).facts.map(({ key }) => key); // list's documented shape
  };

  beforeEach(async () => {
    await piped(["store", "doomed/a", "one", "--category", "doomed"]);
    await piped(["store", "doomed/b", "two", "--category", "doomed"]);
  });

  test.each(["y\n", "Y\n", "yes\n", " yes \n"])("deletes after %j", async (typed) => {
    const { code, stdout, stderr } = await terminal(["forget", "category:doomed"], { typed });
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^This would delete all 2 facts of the category doomed of main for good; it cannot be undone\. .*\n {2}doomed\/b: two\n {2}doomed\/a: one\nDelete\? \[y\/N\] /,
    );
    expect(stdout).toMatch(/^Deleted 2 facts of the category doomed of main\./);
    expect(await keysLeft()).toEqual([]);
  });

  // verifies P-forget-exact
  test("keeps what others stored while the question was open, and names it", async () => {
    const typed = async () => {
      await piped(["store", "doomed/c", "three", "--category", "doomed"]);
      await piped(["store", "doomed/a", "changed"]);
      return "y\n";
    };
    const { code, stdout, stderr } = await terminal(["forget", "category:doomed"], { typed });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Deleted 1 fact of the category doomed/);
    expect(stderr).toContain(
      '2 entries stay: they were stored or changed after the preview ("doomed/c", "doomed/a").\n',
    );
    expect(await keysLeft()).toEqual(["doomed/a", "doomed/c"]);
    await piped(["forget", "category:doomed", "--yes"]);
  });

  test.each(["n\n", "\n", "no\n", "yep\n", "yes please\n", "Yn\n", ""])(
    "deletes nothing after %j",
    async (typed) => {
      const { code, stdout, stderr } = await terminal(["forget", "category:doomed"], { typed });
      expect(code).toBe(1);
      expect(stdout).toBe("");
      expect(stderr).toMatch(/Nothing was deleted\.\n$/);
      expect(await keysLeft()).toEqual(["doomed/b", "doomed/a"]);
    },
  );

  test.each(["all", "everything"])("shows a preview and asks for %s too", async (scope) => {
    const { code, stderr } = await terminal(["forget", scope], { typed: "n\n" });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`^This would delete ${scope}.* of main for good; it cannot be undone\\.`),
    );
    expect(stderr).toMatch(/\n {2}doomed\/b: two\n/);
    expect(await keysLeft()).toHaveLength(2);
  });

  test("does not ask with --yes", async () => {
    const { code, stderr } = await terminal(["forget", "key:doomed/a", "--yes"], { typed: "n\n" });
    expect(code).toBe(0);
    expect(stderr).not.toContain("[y/N]");
    expect(await keysLeft()).toEqual(["doomed/b"]);
  });

  test("does not ask in a dry run, and deletes nothing", async () => {
    const { code, stderr } = await terminal(["forget", "all", "--dry-run"], { typed: "y\n" });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await keysLeft()).toHaveLength(2);
  });

  test("does not ask when there is nothing to delete", async () => {
    const { code, stderr } = await terminal(["forget", "key:nothing/there"], { typed: "y\n" });
    expect(code).toBe(0);
    expect(stderr).not.toContain("[y/N]");
  });

  test.each([["stdin"], ["stderr"]] as const)(
    "does not ask when %s is no terminal, and deletes nothing",
    async (name) => {
      const { code, stderr } = await terminal(["forget", "category:doomed"], { piped: [name], typed: "y\n" });
      expect(code).toBe(2);
      expect(stderr).toContain("needs --yes");
      expect(await keysLeft()).toHaveLength(2);
    },
  );
});
