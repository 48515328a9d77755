import { Command } from "commander";
import { describe, expect, test } from "vitest";
import type { Finding, Forgotten, Memory, MemoryStatus, RecallHit } from "../../app/index.ts";
import { HelmdeckError, localMinute } from "../../app/index.ts";
import { subjectOf } from "../../plugin/identity.ts";
import type { CliContext } from "../../plugin/openclaw-api.ts";
import { registerHelmdeckCli } from "../../plugin/openclaw-cli.ts";
import { accessTo, fakeMemory } from "./fake-memory.ts";

interface Shell {
  readonly out: string[];
  readonly err: string[];
  readonly asked: string[];
  exitCode: number;
  closed: number;
}

interface Setup {
  readonly answer?: string;
  readonly host?: readonly Finding[];
  readonly warnings?: readonly string[];
}

async function typing(args: readonly string[], memory: Memory | Error, setup: Setup = {}): Promise<Shell> {
  const shell: Shell = { out: [], err: [], asked: [], exitCode: 0, closed: 0 };
  const program = new Command().exitOverride();
  const { answer } = setup;
  // OpenClaw brings its own copy of commander, of the same interface.
  registerHelmdeckCli(program as unknown as CliContext["program"], {
    open: () => accessTo(memory).open(),
    close: async () => {
      shell.closed += 1;
    },
    defaultAgent: "main",
    subjectOf: (agentId) => subjectOf(agentId, new Map([["work", "shared"]])),
    hostFindings: async () => setup.host ?? [],
    hostWarnings: () => setup.warnings ?? [],
    terminal: {
      out: (text) => void shell.out.push(text),
      err: (text) => void shell.err.push(text),
      ask:
        answer === undefined
          ? undefined
          : (question) => Promise.resolve(shell.asked.push(question)).then(() => answer),
      fail: (exitCode) => {
        shell.exitCode = exitCode;
      },
      now: () => 0,
    },
  });
  await program.parseAsync(["helmdeck", ...args], { from: "user" });
  return shell;
}

const READY: MemoryStatus = {
  state: "ready",
  databasePath: "/s/memory.sqlite",
  keySource: "/s/key",
  driver: "node:sqlite",
  mode: "keyword",
  subject: { name: "main", facts: 1, auditRows: 0 },
};

const READY_REPLY = {
  state: "ready",
  database_path: "/s/memory.sqlite",
  key_source: "/s/key",
  driver: "node:sqlite",
  mode: "keyword",
  subject: { name: "main", facts: 1, audit_rows: 0 },
};

const HIT: RecallHit = {
  kind: "fact",
  docid: "user_facts/deploy",
  path: "helmdeck/user_facts/deploy.md",
  title: "deploy",
  score: 0.9,
  snippet: "Konflux",
  startLine: 3,
  endLine: 3,
  category: "user_facts",
  key: "deploy",
  createdAt: 0,
  updatedAt: 0,
  parts: { bm25: { value: 0.75, weight: 0.3 }, unknown: { value: 0, weight: -0.2 } },
};

describe("status", () => {
  test("for people, and as JSON", async () => {
    const memory = fakeMemory({ status: async () => READY });
    expect((await typing(["status"], memory)).out.join()).toContain("helmdeck memory: ready");
    const { out, exitCode } = await typing(["status", "--json"], memory);
    expect(JSON.parse(out.join())).toEqual(READY_REPLY);
    expect(exitCode).toBe(0);
  });

  test("says whom the host keeps from memory", async () => {
    const memory = fakeMemory({ status: async () => READY });
    const warnings = ["sub-agents find nothing"];
    expect((await typing(["status"], memory, { warnings })).out.join()).toContain(
      "\n  sub-agents find nothing",
    );
    const { out } = await typing(["status", "--json"], memory, { warnings });
    expect(JSON.parse(out.join())).toEqual({ ...READY_REPLY, warnings });
  });

  test("a memory that does not open is shown with its reason, and is a failure", async () => {
    const error = { code: "key_wrong", message: "The key belongs to another database." } as const;
    const memory = fakeMemory({ status: async () => ({ ...READY, state: "failed", error }) });
    const { out, exitCode } = await typing(["status"], memory);
    expect(out.join()).toContain("failed (key_wrong)\n  The key belongs to another database.");
    expect(exitCode).toBe(1);
  });
});

describe("search", () => {
  const warm = async () => {};

  test("asks for the agent's subject", async () => {
    const memory = fakeMemory({ warm, search: async () => ({ results: [HIT], mode: "keyword" }) });
    const { out } = await typing(
      ["search", "deploy", "preference", "--agent", "work", "--limit", "3"],
      memory,
    );
    expect(memory.calls).toEqual([
      { method: "warm", args: ["shared"] },
      { method: "search", args: ["shared", { query: "deploy preference", limit: 3 }] },
    ]);
    expect(out.join()).toBe(
      `0.90  fact "deploy" in user_facts, stored ${localMinute(0)}\n      helmdeck/user_facts/deploy.md:3-3\n      score: bm25 0.75 × 0.3\n      > Konflux`,
    );
  });

  test("--explain shows what the score is made of", async () => {
    const memory = fakeMemory({ warm, search: async () => ({ results: [HIT], mode: "keyword" }) });
    const { out } = await typing(["search", "deploy", "--explain"], memory);
    expect(out.join()).toContain("bm25 0.75 × 0.3");
  });

  test("--recall goes along as it was typed: memory knows the modes", async () => {
    const memory = fakeMemory({ warm, search: async () => ({ results: [HIT], mode: "keyword" }) });
    await typing(["search", "deploy", "--recall", "eager"], memory);
    expect(memory.calls).toMatchObject([{}, { args: ["main", { query: "deploy", recall: "eager" }] }]);
  });

  test("--json prints memory's answer", async () => {
    const memory = fakeMemory({
      warm,
      search: async () => ({ results: [HIT], mode: "keyword", reason: "still indexing" }),
    });
    const { out } = await typing(["search", "deploy", "--json"], memory);
    const { startLine: start_line, endLine: end_line, createdAt: _, updatedAt: __, ...hit } = HIT;
    const [created_at, updated_at] = ["1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000Z"];
    const results = [{ ...hit, start_line, end_line, created_at, updated_at }];
    expect(JSON.parse(out.join())).toEqual({ results, mode: "keyword", reason: "still indexing" });
  });
});

test("list shows people keys and no values, and programs whole facts", async () => {
  const fact = {
    key: "deploy",
    value: "s3cr3t",
    category: "work",
    tags: [],
    createdAt: 0,
    updatedAt: 0,
    fingerprint: "00",
    path: "p",
  };
  const memory = fakeMemory({ listFacts: async () => ({ facts: [fact], unreadable: ["lost"] }) });
  const plain = await typing(["list", "dep", "--category", "work", "--limit", "5"], memory);
  expect(memory.calls).toMatchObject([{ args: ["main", { prefix: "dep", category: "work", limit: 5 }] }]);
  expect(plain.out.join()).toContain(`\n${localMinute(0)}  never          work      deploy`);
  expect(plain.out.join()).not.toContain("s3cr3t");
  expect(plain.err.join()).toMatch(/^entry_unreadable: lost is there .* openclaw helmdeck doctor says more/);
  const json = await typing(["list", "--json"], memory);
  expect(JSON.parse(json.out.join())).toEqual({
    facts: [
      {
        key: "deploy",
        value: "s3cr3t",
        category: "work",
        tags: [],
        created_at: "1970-01-01T00:00:00.000Z",
        updated_at: "1970-01-01T00:00:00.000Z",
        fingerprint: "00",
        path: "p",
      },
    ],
    unreadable: ["lost"],
  });
});

test.each([
  [[], "The memory of main holds no facts yet. Ask an agent to remember something."],
  [["user_facts/deploy"], "The memory of main holds no such facts. 12 facts, none matched; without a prefix"],
  [
    ["--category", "work"],
    "The memory of main holds no such facts. 12 facts, none matched; without a prefix",
  ],
])("list %j says what an empty answer means", async (args, words) => {
  const listFacts = async () => ({ facts: [], unreadable: [] });
  const categories = [
    { name: "user_facts", count: 12, recentKeys: [] },
    { name: "pack_history", count: 3, recentKeys: [] },
  ];
  const myMemory = async () => ({ scope: "caller=main", fetchedAt: 0, categories });
  const memory = fakeMemory({ listFacts, myMemory, getFact: async () => undefined });
  expect(await typing(["list", ...args], memory)).toMatchObject({
    out: [],
    err: [expect.stringContaining(words)],
  });
});

describe("forget", () => {
  const forgetting = (deleted = 3) =>
    fakeMemory({
      forget: async (_, { scope, dryRun = false }): Promise<Forgotten> => ({
        scope,
        deleted,
        dryRun,
        erased: deleted > 0 && !dryRun ? "complete" : "nothing",
        ...(deleted === 0 && { near: ["x/y"] }),
      }),
    });
  const dryRuns = (memory: { calls: readonly { args: readonly unknown[] }[] }) =>
    memory.calls.map(({ args }) => Reflect.get(Object(args[1]), "dryRun"));

  test("asks first, and says how much it is about", async () => {
    const memory = forgetting();
    const { asked, out, err } = await typing(["forget", "packs"], memory, { answer: "y" });
    expect(err).toEqual(["This deletes 3 entries of main for good: packs"]);
    expect(asked).toEqual(["Delete? [y/N] "]);
    expect(out).toEqual(["Deleted 3 entries in the memory of main: packs"]);
    expect(dryRuns(memory)).toEqual([true, false]);
  });

  test.each(["", "n", "no", "yep", "Y e s"])("the answer %j deletes nothing", async (answer) => {
    const memory = forgetting();
    const { out, err, exitCode } = await typing(["forget", "packs"], memory, { answer });
    expect(out).toEqual([]);
    expect(err.at(-1)).toBe("Nothing was deleted.");
    expect({ exitCode, dryRuns: dryRuns(memory) }).toEqual({ exitCode: 1, dryRuns: [true] });
  });

  test("--dry-run deletes nothing, even with --yes", async () => {
    const memory = forgetting();
    await typing(["forget", "packs", "--dry-run", "--yes"], memory);
    expect(dryRuns(memory)).toEqual([true]);
  });

  test("--yes does not ask", async () => {
    const memory = forgetting();
    const { asked } = await typing(["forget", "packs", "--yes", "--json"], memory, { answer: "n" });
    expect(asked).toEqual([]);
    expect(dryRuns(memory)).toEqual([false]);
  });

  test.each([3, 0])(
    "with nobody to ask, nothing is deleted, and it says so (%i entries)",
    async (deleted) => {
      const memory = forgetting(deleted);
      const { out, err, exitCode } = await typing(["forget", "packs"], memory);
      expect(err.join()).toMatch(/^invalid_input: forget deletes for good; .* --yes, or --dry-run/);
      expect({ out, exitCode, dryRuns: dryRuns(memory) }).toEqual({ out: [], exitCode: 2, dryRuns: [] });
    },
  );

  test("nothing to forget is nothing to ask", async () => {
    const { asked, out, err } = await typing(["forget", "key:x"], forgetting(0), { answer: "y" });
    expect({ asked, out, err }).toEqual({
      asked: [],
      out: ["Nothing was deleted in the memory of main: key:x"],
      err: ['Near it: "key:x/y".'],
    });
  });

  test("what was no dry run is not told as one", async () => {
    const { out } = await typing(["forget", "key:x", "--json"], forgetting(0), { answer: "y" });
    expect(JSON.parse(out.join())).toEqual({
      scope: "key:x",
      deleted: 0,
      dry_run: false,
      erased: "nothing",
      near: ["x/y"],
    });
  });
});

describe("doctor", () => {
  const store: Finding = { level: "ok", check: "rows", message: "Every row opens." };

  test("shows memory's findings and OpenClaw's", async () => {
    const host: Finding = {
      level: "warning",
      check: "memory-wiki",
      message: "is enabled",
      remedy: "Ask for more.",
    };
    const memory = fakeMemory({ doctor: async () => ({ findings: [store] }) });
    const { out, exitCode } = await typing(["doctor"], memory, { host: [host] });
    expect(out.join()).toBe(
      "ok       rows: Every row opens.\nwarning  memory-wiki: is enabled\n         → Ask for more.",
    );
    expect(exitCode).toBe(0);
    const json = await typing(["doctor", "--json"], memory, { host: [host] });
    expect(JSON.parse(json.out.join())).toEqual({ findings: [store, host] });
  });

  test("an error is a failure", async () => {
    const memory = fakeMemory({ doctor: async () => ({ findings: [{ ...store, level: "error" }] }) });
    expect(await typing(["doctor"], memory)).toMatchObject({ exitCode: 1 });
  });
});

describe("trouble", () => {
  const COMMANDS = [["search", "x"], ["list"], ["forget", "all", "--yes"]];
  const BROKEN = new HelmdeckError("key_unreadable", "The secret could not be read; make it available.");

  test("status says why memory cannot even be asked", async () => {
    const plain = await typing(["status"], BROKEN);
    expect(plain).toMatchObject({ exitCode: 1, closed: 1, err: [] });
    expect(plain.out.join()).toBe(
      "helmdeck memory: failed (key_unreadable)\n  The secret could not be read; make it available.",
    );
    const { out } = await typing(["status", "--json"], BROKEN);
    const error = { code: "key_unreadable", message: BROKEN.message };
    expect(JSON.parse(out.join())).toEqual({ state: "failed", error });
  });

  test("doctor says it among everything else that it looks at", async () => {
    const host: Finding = { level: "ok", check: "memory-wiki", message: "not enabled" };
    const { out, exitCode, closed } = await typing(["doctor"], BROKEN, { host: [host] });
    expect(out.join()).toBe(`error    key: ${BROKEN.message}\nok       memory-wiki: not enabled`);
    expect({ exitCode, closed }).toEqual({ exitCode: 1, closed: 1 });
  });

  test.each(COMMANDS)("%s says code and remedy, and always gives memory back", async (...args) => {
    const broken = new HelmdeckError("key_missing", "There is no key; restore the key file.");
    const { err, exitCode, closed, out } = await typing(args, broken);
    expect({ err, exitCode, closed, out }).toEqual({
      err: ["key_missing: There is no key; restore the key file."],
      exitCode: 1,
      closed: 1,
      out: [],
    });
  });

  test.each(COMMANDS)("%s --json says it as JSON on standard error", async (...args) => {
    const { out, err } = await typing(
      [...args, "--json"],
      new HelmdeckError("key_missing", "No key.", { details: { keyFile: "k" } }),
    );
    expect(out).toEqual([]);
    expect(JSON.parse(err.join())).toEqual({
      error: "key_missing",
      message: "No key.",
      details: { key_file: "k" },
    });
  });

  test("a defect's own words are not shown", async () => {
    const { err, exitCode } = await typing(["status"], new Error("s3cr3t"));
    expect(err.join()).toMatch(/^internal: /);
    expect(err.join()).not.toContain("s3cr3t");
    expect(exitCode).toBe(1);
  });

  test.each(["No Such", "../main", "", "a:b"])("--agent %j is refused", async (agent) => {
    const memory = fakeMemory();
    const { err, exitCode } = await typing(["status", "--agent", agent], memory);
    expect(err.join()).toMatch(/^invalid_input: --agent/);
    expect({ exitCode, calls: memory.calls }).toEqual({ exitCode: 2, calls: [] });
  });

  test("what is stored cannot play tricks on the terminal", async () => {
    const fact = {
      key: "a\u001b]0;owned\u0007\nb",
      value: "",
      category: "c",
      tags: [],
      createdAt: 0,
      updatedAt: 0,
      fingerprint: "",
      path: "p",
    };
    const memory = fakeMemory({ listFacts: async () => ({ facts: [fact], unreadable: ["\u202ex"] }) });
    for (const args of [["list"], ["list", "--json"]]) {
      const { out, err } = await typing(args, memory);
      const lines = [...out, ...err].join("\n").split("\n");
      for (const line of lines) expect(line).not.toMatch(/\p{Cc}|\u202e/u);
      expect(lines).toHaveLength(args.length === 1 ? 3 : 1);
    }
  });
});
