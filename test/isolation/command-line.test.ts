/** Commands for one caller never show, change or delete another caller's entries. */

import { readFile } from "node:fs/promises";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { postgresServer } from "../../app/database-server/postgres-server.ts";
import { HELMDECK_MEMORY } from "../../cli/index.ts";
import { Output } from "../../commands/output.ts";
import { makeProgram } from "../../commands/run-program.ts";
import { otherCallersNotice } from "../../commands/with-memory.ts";
import { CommandHome } from "../cli/command.ts";
import { runPiped } from "../cli/terminal.ts";

const home = new CommandHome();
afterAll(() => home.remove());

function run(args: readonly string[], typed = "") {
  return runPiped(args, { homeFolder: home.folder, typed });
}

const SECRET = "azalea-cobalt-heron";
const NOTE = "Ochre is the colour of alice.";
let imported = "";

beforeAll(async () => {
  await run([
    "store",
    "plan",
    `The plan of alice is ${SECRET}`,
    "--category",
    "alice_only",
    "--caller",
    "alice",
  ]);
  await run(["store", "copy", `The plan of alice is ${SECRET}`, "--caller", "alice"]);
  const audit = {
    audit: "pack",
    pack: "alice.pack",
    outcome: "ok",
    at_unix: 1_700_000_000,
  };
  await run(["import", "-", "--caller", "alice"], JSON.stringify(audit));
  const notes = ["import", "-", "--from", "markdown", "--yes", "--json", "--caller", "alice"];
  imported = JSON.parse((await run(notes, `- ${NOTE}`)).stdout).import;
});

// An option's parser could fold the last one to alice. use-cases.test.ts tries many more names.
const OTHERS = ["bob", "main", "alice:1", "alice%", "Alice"];

// An option's parser could trim these to alice.
test.each(["alice ", " alice"])("the caller %j is nobody", async (other) => {
  for (const command of [["get", "plan"], ["list"], ["export"], ["forget", "everything", "--yes"]])
    expect(await run([...command, "--caller", other])).toMatchObject({ code: 1, stdout: "" });
  expect((await run(["get", "plan", "--caller", "alice"])).stdout).toContain(SECRET);
});

// verifies P-alone-subjects
describe.each(OTHERS)("the caller %j", (other) => {
  test("sees nothing of alice's, in any command", async () => {
    const reads = [
      ["get", "plan"],
      ["history", "plan"],
      ["status"],
      ["complete", "--", "get", ""],
      ["complete", "--", "--caller", other, "list", ""],
      ["list"],
      ["list", "plan"],
      ["list", "--category", "alice_only"],
      ["search", "plan", "alice"],
      ["search", SECRET],
      ["tidy"],
      ["tidy", "--keep", "plan", "--over", "copy", "--dry-run"],
      ["export"],
      ["imports"],
      ["forget", `import:${imported}`, "--dry-run"],
      ["forget", "everything", "--dry-run"],
      ["traces", "plan"],
    ];
    for (const read of reads) {
      for (const json of [[], ["--json"]]) {
        const { stdout } = await run([...read, ...json, "--caller", other]);
        expect(stdout).not.toContain(SECRET);
        expect(stdout).not.toContain("alice.pack");
        expect(stdout).not.toContain("alice_only");
        expect(stdout).not.toContain(NOTE);
        if (read[0] === "imports") expect(stdout).not.toContain(imported);
      }
    }
    const { deleted } = JSON.parse(
      (await run(["forget", "everything", "--dry-run", "--json", "--caller", other])).stdout,
    );
    expect(deleted).toBe(0);
  });

  test("deletes and replaces nothing of alice's", async () => {
    await run(["store", "plan", "mine", "--caller", other]);
    await run(["edit", "plan", "mine now", "--caller", other]);
    await run(["undo", "plan", "--caller", other]);
    await run(["tidy", "--keep", "plan", "--over", "copy", "--caller", other]);
    await run(["tidy", "--apart", "plan", "copy", "--caller", other]);
    await run(["renew", "plan", "--ttl", "1h", "--caller", other]);
    await run(["pin", "plan", "--caller", other]);
    await run(["unpin", "plan", "--caller", other]);
    for (const scope of [
      "key:plan",
      "category:alice_only",
      `import:${imported}`,
      "packs",
      "all",
      "everything",
    ]) {
      await run(["forget", scope, "--yes", "--caller", other]);
    }
    expect((await run(["get", "plan", "--caller", "alice"])).stdout).toContain(SECRET);
    expect((await run(["list", "--caller", "alice"])).stdout).toContain(NOTE);
    expect((await run(["tidy", "--caller", "alice"])).stdout).toContain("The same under 2 keys");
  });
});

describe("a caller without a memory, whose name may be mistyped", () => {
  const have = 'alcie has no memory here; these have one: alice, "the cook".';
  const place = (args: readonly string[]) => [...args, "--db", `${home.folder}/callers.sqlite`];
  beforeAll(async () => {
    await run(place(["store", "a", "1", "--caller", "alice"]));
    await run(place(["store", "a", "1", "--caller", "the cook"]));
  });

  // verifies P-alone-names
  test.each([[["search", "one"]], [["list"]], [["get", "a"]], [["status"]], [["forget", "all", "--yes"]]])(
    "%j says to the owner of the file who has one, and nothing of what they hold",
    async (args) => {
      const { stdout, stderr } = await run(place([...args, "--caller", "alcie"]));
      expect(stdout + stderr).toContain(have);
      expect((await run(place([...args, "--caller", "alice"]))).stderr).not.toContain("no memory here");
    },
  );

  // verifies P-alone-names
  test("a database on a server tells no names", async () => {
    const address = { env: {}, homeDir: home.folder, from: "argument" } as const;
    const server = await postgresServer("postgres://bob@127.0.0.1/memory", address);
    const callers: OpenMemory["callers"] = async (of) => ({
      callers: of === undefined ? [{ subject: "alice", count: 1, bytes: 9 }] : [],
    });
    expect(await otherCallersNotice("alcie", { callers }, { server })).toBeUndefined();
    expect(await otherCallersNotice("alcie", { callers }, {})).toContain("alice");
  });

  test("a store says nothing: it makes the memory", async () => {
    const { stderr } = await run(place(["store", "b", "2", "--caller", "bob", "--dry-run"]));
    expect(stderr).not.toContain("no memory here");
  });
});

/** Commands that do not use a caller's memory, or that other tests cover. */
const NO_CALLER = [
  "embed",
  "mcp",
  "open",
  "serve",
  "token",
  "here",
  "hook",
  "backup",
  "restore",
  "rotate-key",
  "key",
  "move",
  "verify",
];
const OF_THE_OPERATOR = [...NO_CALLER, "model", "repair", "doctor", "install", "completion"];

test("every command that asks a caller's memory is tried above", async () => {
  const source = await readFile(new URL(import.meta.url), "utf8");
  const shell = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  const streams = { ...shell, env: {}, homeDir: "/", now: () => 0 };
  const { program } = makeProgram(streams, new Output(streams), HELMDECK_MEMORY);
  const names = program.commands.map((command) => command.name());
  const untried = names.filter((name) => !source.includes(`["${name}"`) && !OF_THE_OPERATOR.includes(name));
  expect(untried).toEqual([]);
});

test("alice still has all of hers", async () => {
  const { stdout } = await run(["export", "--caller", "alice"]);
  expect(stdout).toContain(SECRET);
  expect(stdout).toContain("alice.pack");
  expect((await run(["imports", "--caller", "alice"])).stdout).toContain(imported);
});

test("the default caller is main", async () => {
  await run(["store", "default", "x"]);
  expect(await run(["get", "default", "--caller", "main"])).toMatchObject({ code: 0 });
});
