/** get, list, search, forget and doctor for people and scripts. */
import { writeFileSync } from "node:fs";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { InProcessHome } from "./in-process.ts";

const home = InProcessHome.forAllTests();

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Oldest first. */
const FACTS = [
  { key: "deploy/konflux", value: "We always deploy through Konflux" },
  { key: "team/release", value: "The docs team decides", category: "team", tags: ["docs"] },
  { key: "from/stdin", value: "two\nlines" },
  { key: "from/file", value: "Kept in a file" },
  { key: "dash", value: "-v is for verbose" },
].map((fact, index) => ({ ...fact, created_at: new Date(Date.now() - (60 - index) * 60_000).toISOString() }));

beforeAll(async () => {
  expect(
    await home.run(["import", "-"], { input: FACTS.map((fact) => JSON.stringify(fact)).join("\n") }),
  ).toMatchObject({ code: 0 });
});

const json = (...args: readonly string[]) => home.json(...args);

describe("get", () => {
  test("prints the value and nothing else", async () => {
    expect(await home.run(["get", "deploy/konflux"])).toMatchObject({
      code: 0,
      stdout: "We always deploy through Konflux\n",
      stderr: "",
    });
  });

  test("answers a script with the whole fact", async () => {
    expect(await json("get", "deploy/konflux")).toEqual({
      key: "deploy/konflux",
      value: "We always deploy through Konflux",
      category: "user_facts",
      tags: [],
      created_at: expect.stringMatching(RFC3339),
      updated_at: expect.stringMatching(RFC3339),
      expires_at: expect.stringMatching(RFC3339),
      fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
      revision: expect.any(Number),
      path: "helmdeck/user_facts/deploy/konflux.md",
    });
  });

  test.each([
    "nothing/there",
    "Deploy/konflux",
    "deploy/konfluX",
    "deploy/",
    "deploy/%",
    "konflux",
    "helmdeck/user_facts/deploy.md",
    "helmdeck/team/deploy/konflux.md",
    "team/deploy/konflux",
    "user_facts/deploy/",
  ])("%s is no such key: exit 1, and it says so", async (key) => {
    const { code, stdout, stderr } = await home.run(["get", key]);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^not_found: There is no fact with this key in the memory of main\. .*list.*\n$/);
    expect(stderr).not.toContain(key);
  });

  test.each([
    "helmdeck/user_facts/deploy/konflux.md",
    "helmdeck/user_facts/deploy/konflux.md#L1-L5",
    "helmdeck/user_facts/deploy/konflux.md:3-3",
    "user_facts/deploy/konflux",
    "user_facts/deploy/konflux#L3",
    " user_facts/deploy/konflux ",
  ])("takes what a search shows of a fact: %s", async (shown) => {
    expect(await json("get", shown)).toMatchObject({ key: "deploy/konflux" });
  });

  test("tells a script that there is no such key, on stderr", async () => {
    const { code, stdout, stderr } = await home.run(["get", "nothing/there", "--json"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    const message = expect.stringContaining("no fact with this key");
    expect(JSON.parse(stderr)).toEqual({ error: "not_found", message, details: { caller: "main" } });
  });
});

describe("list", () => {
  test("shows each fact with the beginning of its value, newest first", async () => {
    const { code, stdout, stderr } = await home.run(["list"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.trimEnd().split("\n");
    const facts = lines.filter((line) => !line.startsWith(" "));
    expect(facts.map((line) => line.split("  ")[0])).toEqual(FACTS.map(({ key }) => key).reverse());
    for (const line of facts) {
      expect(line).toMatch(/^\S+ {2}\((user_facts|team), \d{4}-\d\d-\d\d \d\d:\d\d, expires in 90 days\)$/);
    }
    expect(lines.at(-1)).toMatch(/^ {4}We always deploy through Konflux/);
    expect((await home.run(["ls"])).stdout).toBe(stdout);
  });

  test.each([
    ["a prefix", ["list", "from/"], ["from/file", "from/stdin"]],
    ["a category", ["list", "--category", "team"], ["team/release"]],
    ["both", ["list", "team/", "--category", "team"], ["team/release"]],
  ])("narrowed by %s", async (_name, args, keys) => {
    const { facts } = (await json(...args)) as { facts: { key: string; value: string }[] }; // list's documented shape
    expect(facts.map(({ key }) => key)).toEqual(keys);
    expect(facts.every(({ value }) => value.length > 0)).toBe(true);
  });

  test("says that the limit cut it", async () => {
    expect(await json("list", "--limit", "2")).toMatchObject({
      facts: [{ key: "dash" }, { key: "from/file" }],
      next_cursor: expect.any(String),
    });
    expect((await home.run(["list", "--limit", "2"])).stderr).toMatch(
      /^These are the newest 2; --limit shows more\.\n$/,
    );
    expect(await json("list", "--limit", "5")).not.toHaveProperty("next_cursor");
  });

  test.each([
    ["a prefix that no key has", ["list", "From/"]],
    ["a wildcard, which is none", ["list", "from_"]],
    ["a category that nothing is in", ["list", "--category", "nope"]],
  ])("says that there are no facts: %s", async (_name, args) => {
    const { code, stdout, stderr } = await home.run(args);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toMatch(
      /holds no such facts\. \d+ facts?, none matched; without a prefix and --category, list shows every one\. Use search/,
    );
    expect(await json(...args)).toEqual({ facts: [], unreadable: [] });
  });

  test.each(["helmdeck/user_facts/deploy/konflux.md#L1-L3", "user_facts/deploy/konflux"])(
    "names the fact at %s, which is not a key prefix",
    async (place) => {
      const { code, stdout, stderr } = await home.run(["list", place]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
      expect(stderr).toMatch(
        /No key .* begins with this\. .* path of the fact with the key deploy\/konflux\n$/,
      );
      expect(await json("list", place)).toEqual({ facts: [], unreadable: [] });
    },
  );

  test("says that a memory is empty, and how to begin", async () => {
    expect((await home.run(["list", "--caller", "nobody"])).stderr).toMatch(
      /^nobody has no memory here; these have one: main\.\nThe memory of nobody holds no facts yet\. Store one: helmdeck-memory store KEY VALUE\n$/,
    );
  });
});

describe("as of a day", () => {
  test("get and list show what was said then, and history what was replaced since", async () => {
    const caller = ["--caller", "then"];
    const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString();
    const stored = { key: "deploy", value: "By hand", created_at: day(40) };
    await home.run(["import", "-", ...caller], { input: JSON.stringify(stored) });
    await home.run(["store", "deploy", "Konflux", ...caller]);
    const then = day(20).slice(0, 10);
    expect(await home.run(["get", "deploy", "--as-of", then, ...caller])).toMatchObject({
      stdout: "By hand\n",
    });
    expect(await home.run(["get", "deploy", ...caller])).toMatchObject({ stdout: "Konflux\n" });
    expect(await json("list", "--as-of", day(20), ...caller)).toMatchObject({
      facts: [{ value: "By hand" }],
    });
    expect(await json("list", "--as-of", day(60), ...caller)).toMatchObject({ facts: [] });
    expect(await json("history", "deploy", "--since", then, ...caller)).toMatchObject({
      former: [{ value: "By hand" }],
    });
    expect(await json("history", "deploy", "--since", day(-1), ...caller)).toMatchObject({ former: [] });
    await home.run(["forget", "key:deploy", "--yes", ...caller]);
    expect(await json("list", "--as-of", then, ...caller)).toMatchObject({ facts: [] });
  });

  test.each(["last week", "2026-02-30", "2026-13-01", "2025-02-29", "2026-11-20T24:00", "2026-11-31T10:00Z"])(
    "%s is no day",
    async (text) => {
      const message = "Write a day such as 2026-11-20, or a time such as 2026-11-20T12:00:00Z.";
      for (const asked of [
        ["list", "--as-of"],
        ["get", "deploy", "--as-of"],
        ["history", "deploy", "--since"],
      ])
        expect(await home.run([...asked, text])).toMatchObject({
          code: 2,
          stderr: expect.stringContaining(message),
        });
    },
  );

  test.each(["Etc/GMT+12", "America/Los_Angeles", "UTC", "Asia/Kolkata", "Pacific/Kiritimati"])(
    "in %s, a daily note is of its own date, shown and asked for, also after a move by export",
    async (zone) => {
      vi.stubEnv("TZ", zone);
      onTestFinished(() => void vi.unstubAllEnvs());
      const home = new InProcessHome();
      onTestFinished(() => home.remove());
      const json = async (...args: readonly string[]) =>
        JSON.parse((await home.run([...args, "--json"])).stdout);
      const note = (text: string) => writeFileSync(home.path("2026-01-20.md"), `- Cache: ${text}\n`);
      const importNote = () =>
        home.run(["import", "--from", "openclaw", home.path("2026-01-20.md"), "--yes"]);
      note("here");
      await importNote();
      const exported = (await home.run(["export"])).stdout;
      const moved = ["--caller", "moved"];
      await home.run(["import", "-", ...moved], { input: exported });
      for (const whose of [[], moved]) {
        const on = (day: string) => json("list", "--as-of", day, ...whose);
        expect((await on("2026-01-19")).facts).toEqual([]);
        expect((await on("2026-01-19T23:59:59")).facts).toEqual([]);
        expect((await on("2026-01-20")).facts).toHaveLength(1);
        expect((await on("2026-01-20T00:00")).facts).toHaveLength(1);
        expect((await home.run(["list", ...whose])).stdout).toContain("(daily_notes, 2026-01-20, ");
        expect((await home.run(["search", "cache", ...whose])).stdout).toContain(
          "stored 2026-01-20 by an import",
        );
      }
      note("there");
      await importNote();
      const history = (since: string) => json("history", "daily/2026-01-20/cache", "--since", since);
      expect((await history("2026-01-20")).former).toHaveLength(1);
      expect((await history("2026-01-21")).former).toEqual([]);
    },
  );
});

describe("search", () => {
  test("shows a person score, key, time and the passage", async () => {
    const { code, stdout, stderr } = await home.run(["search", "how", "do", "we", "deploy"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^[01]\.\d\d {2}We always deploy through Konflux\n {4}fact "deploy\/konflux" in user_facts, stored \d{4}-\d\d-\d\d \d\d:\d\d$/m,
    );
  });

  test("answers a script with exactly the promised fields", async () => {
    const answer = await json("search", "konflux deployment");
    expect(answer).toEqual({
      results: [
        {
          kind: "fact",
          docid: "user_facts/deploy/konflux",
          path: "helmdeck/user_facts/deploy/konflux.md",
          title: "deploy/konflux",
          score: expect.any(Number),
          snippet: expect.stringContaining("We always deploy through Konflux"),
          category: "user_facts",
          key: "deploy/konflux",
          start_line: expect.any(Number),
          end_line: expect.any(Number),
          created_at: expect.stringMatching(RFC3339),
          updated_at: expect.stringMatching(RFC3339),
          expires_at: expect.stringMatching(RFC3339),
        },
      ],
      mode: "keyword",
    });
  });

  test("explains scores when asked", async () => {
    expect(await json("search", "konflux", "--explain")).toMatchObject({
      results: [{ parts: expect.any(Object) }],
    });
    expect((await home.run(["search", "konflux", "--explain"])).stdout).toMatch(
      /\n {4}It has words of the query\.\n/,
    );
  });

  test("returns no more than asked for", async () => {
    await home.run(["store", "birds/lake", "The heron stands at the lake", "--caller", "birds"]);
    await home.run(["store", "birds/sky", "A heron flew over the lake", "--caller", "birds"]);
    expect(await json("search", "heron lake", "--caller", "birds")).toMatchObject({ results: [{}, {}] });
    expect(await json("search", "heron lake", "--limit", "1", "--caller", "birds")).toMatchObject({
      results: [{}],
    });
    await home.run(["forget", "everything", "--yes", "--caller", "birds"]);
  });

  test("says which hits contradict each other, the newer first", async () => {
    const stored = (key: string, value: string, created_at: string) =>
      JSON.stringify({ key, value, created_at });
    const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
    const lines = [
      stored("old", "The standup is at 9:30", ago(50)),
      stored("new", "standup moved to 10:00", ago(1)),
    ];
    await home.run(["import", "-", "--caller", "meetings"], { input: lines.join("\n") });
    const query = ["search", "when is the standup", "--caller", "meetings"];
    const { stdout } = await home.run(query);
    expect(stdout).toMatch(
      /fact "new" .*; contradicts "old" of .*\n(?:.*\n)*.*fact "old" .*; contradicts "new" of /,
    );
    expect(await json(...query)).toMatchObject({
      results: [
        { key: "new", conflicts_with: [{ key: "old", updated_at: expect.stringMatching(RFC3339) }] },
        { key: "old", conflicts_with: [{ key: "new", updated_at: expect.stringMatching(RFC3339) }] },
      ],
    });
    const again = await home.run(["store", "third", "The standup is at 11:00", "--caller", "meetings"]);
    expect(again.stderr).toContain("Contradicts: new: standup moved to 10:00");
    await home.run(["forget", "everything", "--yes", "--caller", "meetings"]);
  });

  test("says that nothing was found, and what to try", async () => {
    const { code, stdout, stderr } = await home.run(["search", "zeppelin"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toMatch(
      /^Nothing in the memory of main answers this\. \d+ facts?, none matched; helmdeck-memory list shows the facts\.\nTry other or fewer words\.\nNote: Semantic search is off: helmdeck-memory model install turns it on \(in OpenClaw: openclaw helmdeck model install\)\.\n$/,
    );
    expect(await json("search", "zeppelin")).toEqual({
      results: [],
      mode: "keyword",
      unmatched: { facts: 5, audit_rows: 0 },
      hint: expect.stringMatching(/^Semantic search is off/),
    });
    const empty = await home.run(["search", "zeppelin", "--caller", "newcomer"]);
    expect(empty.stderr).toBe(
      "newcomer has no memory here; these have one: main.\n" +
        "Nothing in the memory of newcomer answers this. Nothing has been stored yet.\n",
    );
  });

  test("marks what is only possibly related, for people and for scripts", async () => {
    const query = ["search", "who repaired konflux during the storm"];
    const { code, stdout, stderr } = await home.run(query);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^0\.\d\d {2}We always .*\n {4}fact "deploy\/konflux" in \S+, stored .{16} {2}\(only possibly related: answer\)\n/,
    );
    expect(stderr).toBe(
      "Nothing in the memory of main answers this for certain. These hits are only possibly related.\nNote: Semantic search is off: helmdeck-memory model install turns it on (in OpenClaw: openclaw helmdeck model install).\n",
    );
    expect(await json(...query)).toMatchObject({
      results: [{ key: "deploy/konflux", possible: true, why: "answer" }],
    });
  });

  test("a limit beyond 50 is refused by name", async () => {
    const { code, stdout, stderr } = await home.run(["search", "x", "--limit", "51"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^invalid_input: [^\n]+\n$/);
  });
});

describe("forget", () => {
  beforeAll(async () => {
    await home.run(["store", "old/a", "one", "--category", "old"]);
    await home.run(["store", "old/b", "two", "--category", "old"]);
  });

  test("only shows what it would delete in a dry run", async () => {
    expect(await home.run(["forget", "category:old", "--dry-run"])).toMatchObject({
      code: 0,
      stdout:
        "This would delete all 2 facts of the category old of main for good; it cannot be undone. Other facts stay, and so do records of runs.\n  old/b: two\n  old/a: one\n",
    });
    expect(await json("forget", "category:old", "--dry-run")).toMatchObject({
      scope: "category:old",
      deleted: 2,
      dry_run: true,
    });
    expect(await json("get", "old/a")).toMatchObject({ value: "one" });
  });

  test.each([
    ["what is there", "key:old/a"],
    ["what is not", "nothing/like/it"],
  ])("a script that wants %s deleted says --yes, else it is refused as bad usage", async (_, scope) => {
    const message = "Forget deletes for good; without a terminal it needs --yes, or --dry-run for a preview";
    const { code, stdout, stderr } = await home.run(["forget", scope]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`invalid_input: ${message}`);
    expect(stderr).not.toContain(scope);
    const asJson = await home.run(["forget", scope, "--json"]);
    expect({ code: asJson.code, stdout: asJson.stdout }).toEqual({ code: 2, stdout: "" });
    expect(JSON.parse(asJson.stderr)).toEqual({
      error: "invalid_input",
      message: expect.stringContaining(message),
    });
    expect(await home.run(["get", "old/a"])).toMatchObject({ code: 0 });
  });

  test("deletes one key exactly, and does not ask with --yes", async () => {
    expect(await home.run(["forget", "key:OLD/A", "--yes"])).toMatchObject({
      code: 0,
      stdout: "Nothing was deleted in the memory of main: key:OLD/A\n",
      stderr: 'Similar: "key:old/a", "key:old/b".\n',
    });
    expect(await home.run(["forget", "nothing/like/it", "--yes"])).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Keys and names are exact/),
    });
    expect(await home.run(["forget", "key:old/a", "--yes"])).toMatchObject({
      code: 0,
      stdout: "Deleted the fact old/a of main.\n",
      stderr: "",
    });
    expect(await home.run(["get", "old/a"])).toMatchObject({ code: 1 });
  });

  test("takes the path that a search shows", async () => {
    expect(await json("forget", "helmdeck/old/old/b.md", "--yes")).toMatchObject({
      deleted: 1,
      dry_run: false,
      erased: "complete",
    });
    expect(await home.run(["get", "old/b"])).toMatchObject({ code: 1 });
  });

  test.each(["", " ", "key:", "category:", "category:pack_history", "pack:"])(
    "the scope %j is refused and deletes nothing",
    async (scope) => {
      const { code, stdout, stderr } = await home.run(["forget", scope, "--yes"]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(/^invalid_input: [^\n]+\n$/);
      expect(await json("list")).toMatchObject({ facts: { length: 5 } });
    },
  );

  test.each(["all", "everything"])("%s empties the caller's memory, and only that", async (scope) => {
    await home.run(["store", "mine", "x", "--caller", "throwaway"]);
    expect(await json("forget", scope, "--yes", "--caller", "throwaway")).toMatchObject({ deleted: 1 });
    expect(await json("list", "--caller", "throwaway")).toMatchObject({ facts: [] });
    expect(await json("list")).toMatchObject({ facts: { length: 5 } });
  });
});

describe("doctor", () => {
  test("finds no problem, and lists its checks", async () => {
    const { code, stdout, stderr } = await home.run(["doctor"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^ok {6} .+/m);
    expect(stdout).not.toMatch(/^error/m);
    expect(stdout).toMatch(/\n\nEverything works\. Also recommended: key\.\n$/);
    expect(stdout).not.toMatch(/journal|synchronous|sqlite 3/);
  });

  test("reports the same to a script", async () => {
    expect(await json("doctor")).toMatchObject({
      findings: expect.arrayContaining([expect.objectContaining({ level: "ok" })]),
      store: { entries: 5, unreadable: 0, integrity: "ok" },
    });
  });
});
