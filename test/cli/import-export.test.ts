/** Import and export on the command line: progress, refusals by line, round trips, pipes, interruption. */

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, watch } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { BUNDLED_COMMAND, finish } from "./command.ts";
import { InProcessHome } from "./in-process.ts";
import { runOnTerminal, runPiped } from "./terminal.ts";

const NOW_SECONDS = Math.floor(Date.now() / 1_000);

const home = InProcessHome.forEachTest();

const fact = (index: number) => ({
  key: `topic-${index % 50}/fact-${index}`,
  value: `The value of number ${index}`,
});
const linesOf = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

const MIXED = [
  { key: "plain", value: "a plain fact" },
  {
    key: "full",
    value: "two\nlines \u202e\u001b[31m",
    category: "team",
    tags: ["x", "ü"],
    ttl_seconds: 86_400,
  },
  { key: "old", value: "from before", created_at: "2026-01-31T12:00:00Z" },
  {
    audit: "pack",
    pack: "github.list_issues",
    outcome: "ok",
    at_unix: NOW_SECONDS - 60,
    duration_ms: 120,
    learn_inputs: { persona: "maintainer" },
  },
  {
    audit: "pipeline",
    pipeline: "release-notes",
    run_id: "run-7",
    outcome: "succeeded",
    at_unix: NOW_SECONDS - 30,
  },
];

describe("import", () => {
  test("imports facts and audit rows, and prints a summary", async () => {
    await home.write("mixed.jsonl", linesOf(MIXED));
    expect(await home.run(["import", "mixed.jsonl"])).toEqual({
      code: 0,
      signal: null,
      stdout: "Imported 5 for main: 3 new, 2 records of runs. Refused: 0.\n",
      stderr: "",
    });
    expect((await home.run(["search", "release notes pipeline"])).stdout).toContain(
      'pipeline run "pipeline_history/release-notes/',
    );
    expect((await home.run(["search", "github list issues"])).stdout).toContain(
      'pack call "pack_history/github.list_issues/',
    );
  });

  test("names refused lines with number and reason, imports the others, and fails", async () => {
    const lines = [
      '{"key": "good/1", "value": "one"}',
      "this is not JSON",
      '{"key": "no value"}',
      "",
      '{"key": "bad", "value": "hunter2-secret", "category": "pack_history"}',
      '{"key": "bad\\u001b[31m", "value": "hunter2-secret"}',
      '{"key": "bad", "value": "hunter2-secret", "ttl_seconds": 60}',
      '{"key": "bad", "value": "hunter2-secret", "colour": "red"}',
      '{"audit": "plan", "pack": "x"}',
      '["hunter2-secret"]',
      '{"key": "good/2", "value": "two"}',
    ];
    const { code, stdout, stderr } = await home.run(["import", "-"], { input: lines.join("\n") });
    expect(code).toBe(1);
    expect(stdout).toBe("Imported 2 for main: 2 new. Refused: 8.\n");
    const refusals = stderr.trimEnd().split("\n");
    expect(refusals.map((line) => /^line (\d+): (?!invalid_input).{10,}/.exec(line)?.[1])).toEqual([
      "2",
      "3",
      "5",
      "6",
      "7",
      "8",
      "9",
      "10",
    ]);
    expect(stderr).not.toContain("hunter2");
    expect(stderr).not.toContain("\u001b");
    expect(await home.run(["get", "good/2"])).toMatchObject({ code: 0, stdout: "two\n" });
    expect(await home.run(["get", "bad"])).toMatchObject({ code: 1 });
  });

  test("reports the same to a script", async () => {
    const input = '{"key": "a", "value": "one"}\nnonsense\n';
    const { code, stdout, stderr } = await home.run(["import", "-", "--json"], { input });
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      lines: 2,
      stored: 1,
      replaced: 0,
      refreshed: 0,
      superseded: 0,
      retired: 0,
      kept: 0,
      audit: 0,
      refused_count: 1,
      refused: [{ line: 2, code: "invalid_input", reason: expect.stringContaining("not JSON") }],
    });
  });

  test("when repeated refreshes facts and adds nothing", async () => {
    await home.write("mixed.jsonl", linesOf(MIXED.slice(0, 2)));
    await home.run(["import", "mixed.jsonl"]);
    expect((await home.run(["import", "mixed.jsonl"])).stdout).toMatch(/^Imported 2 for main: 2 renewed/);
  });

  test.each([
    [
      "a missing file",
      "missing.jsonl",
      /^invalid_input: Cannot read missing\.jsonl: there is no such file\./,
    ],
    [
      "a folder",
      ".",
      /^invalid_input: Cannot tell the format of \. by its name; give it with --from, one of jsonl, helmdeck, /,
    ],
  ])("of %s fails in one line", async (_name, file, message) => {
    const { code, stdout, stderr } = await home.run(["import", file]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd()).not.toContain("\n");
  });

  test("of an empty file says so", async () => {
    expect(await home.run(["import", "-"])).toMatchObject({
      code: 0,
      stderr: "There was nothing to import.\n",
    });
  });

  test("of 3,000 lines takes seconds, from a file and from a stream", async () => {
    await home.write("many.jsonl", linesOf(Array.from({ length: 3_000 }, (_none, index) => fact(index))));
    const started = performance.now();
    expect(await home.run(["import", "many.jsonl"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Imported 3000 for main: 3000 new/),
    });
    expect(performance.now() - started).toBeLessThan(9_000);
    const input = linesOf(Array.from({ length: 300 }, (_none, index) => fact(index)));
    expect(await home.run(["import", "-", "--caller", "other"], { input })).toMatchObject({ code: 0 });
    expect((await home.run(["search", "value of number 2777", "--limit", "3"])).stdout).toContain(
      "fact-2777",
    );
  });

  test("shows a progress bar on a terminal, a line count for a stream, and neither in a pipe", async () => {
    await home.write("many.jsonl", linesOf(Array.from({ length: 1_000 }, (_none, index) => fact(index))));
    const fromFile = await runOnTerminal(["import", home.path("many.jsonl")], {
      homeFolder: home.folder,
      piped: ["stdin"],
    });
    expect(fromFile.stderr).toMatch(/[█░]+ \d+ % · \d+ lines/);
    const typed = readFileSync(home.path("many.jsonl"), "utf8");
    const fromStream = await runOnTerminal(["import", "-"], {
      homeFolder: home.folder,
      piped: ["stdin"],
      typed,
    });
    expect(fromStream.stderr).toMatch(/\d+ lines/);
    expect(fromStream.stderr).not.toMatch(/[█░]/);
    expect((await runPiped(["import", "-"], { homeFolder: home.folder, typed })).stderr).toBe("");
  });
});

describe("export", () => {
  const parsed = (jsonl: string) =>
    jsonl
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));

  test("followed by an import into an empty memory gives the same facts and audit rows", async () => {
    await home.run(["import", "-"], { input: linesOf(MIXED) });
    const first = await home.run(["export"]);
    expect(first).toMatchObject({ code: 0, stderr: "5 lines, values in plain text.\n" });
    const elsewhere = new InProcessHome();
    try {
      expect(await elsewhere.run(["import", "-"], { input: first.stdout })).toMatchObject({ code: 0 });
      const second = await elsewhere.run(["export"]);
      expect(parsed(second.stdout)).toEqual(parsed(first.stdout));
      expect(parsed(first.stdout)).toHaveLength(5);
      expect(JSON.parse((await elsewhere.run(["get", "full", "--json"])).stdout)).toMatchObject({
        value: "two\nlines \u202e\u001b[31m",
        tags: ["x", "ü"],
      });
    } finally {
      elsewhere.remove();
    }
  });

  test("writes a file that only its owner can read, and reports its content", async () => {
    await home.run(["import", "-"], { input: linesOf(MIXED) });
    const { code, stdout, stderr } = await home.run(["export", "--output", "out.jsonl"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Wrote 5 lines to out.jsonl\n" });
    expect(stderr).toMatch(/plain text.*0600/);
    expect(statSync(home.path("out.jsonl")).mode & 0o777).toBe(0o600);
    expect(readFileSync(home.path("out.jsonl"), "utf8")).toBe((await home.run(["export"])).stdout);
  });

  test("reports path and count to a script", async () => {
    await home.run(["store", "k", "v"]);
    const { stdout } = await home.run(["export", "--output", "out.jsonl", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ output: "out.jsonl", lines: 1, problems: [] });
  });

  test("never overwrites a file", async () => {
    await home.run(["store", "k", "v"]);
    await home.write("out.jsonl", "precious");
    const { code, stdout, stderr } = await home.run(["export", "--output", "out.jsonl"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^invalid_input: out\.jsonl already exists[^\n]+\n$/);
    expect(readFileSync(home.path("out.jsonl"), "utf8")).toBe("precious");
  });

  test("of an empty memory is empty, and says so", async () => {
    expect(await home.run(["export"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: `There is no memory at ${home.databasePath} yet. The first fact that is stored creates it.\n0 lines, values in plain text.\n`,
    });
  });

  test.runIf(existsSync("/dev/full"))("to a full disk says that the answer is not complete", async () => {
    await home.run(["store", "k", "hunter2-secret"]);
    const { status, stderr } = spawnSync(
      "/bin/sh",
      ["-c", 'exec "$0" "$@" > /dev/full', process.execPath, BUNDLED_COMMAND, "export"],
      { env: { PATH: process.env.PATH, HOME: home.folder }, encoding: "utf8" },
    );
    expect(status).toBe(1);
    expect(stderr).toMatch(/^invalid_input: The output is incomplete: [^\n]*ENOSPC[^\n]*\n$/);
  });

  describe("of a large memory", () => {
    beforeEach(async () => {
      const rows = Array.from({ length: 600 }, (_none, index) => ({
        ...fact(index),
        value: `${index} ${"x".repeat(3_000)}`,
      }));
      expect(await home.run(["import", "-"], { input: linesOf(rows) })).toMatchObject({ code: 0 });
    });

    test("into a closed pipe ends without an error", async () => {
      const child = home.start(["export"]);
      const ended = finish(child);
      child.stdout.once("data", () => child.stdout.destroy());
      expect(await ended).toMatchObject({
        code: 0,
        stderr: "",
        stdout: expect.stringMatching(/^\{"key":"topic-0\/fact-0"/),
      });
    });

    test("that is interrupted leaves a complete file or none", async () => {
      const child = home.start(["export", "--output", "out.jsonl"]);
      const ended = finish(child);
      const watcher = watch(home.folder);
      await once(watcher, "change"); // the first change in the folder is the new file
      child.kill("SIGINT");
      const { signal } = await ended;
      watcher.close();
      const left = readdirSync(home.folder).filter((name) => name.includes("out.jsonl"));
      expect(left).toEqual(signal === "SIGINT" ? [] : ["out.jsonl"]);
      for (const name of left) expect(parsed(readFileSync(home.path(name), "utf8"))).toHaveLength(600);
    });
  });
});
