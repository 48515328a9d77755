/** Import of helmdeck's database from a shell: the preview with callers and their subjects, and the question. */
import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { KEY_HEX, makeDatabase } from "../transfer/helmdeck-database.ts";
import { CommandHome } from "./command.ts";
import { runOnTerminal, runPiped } from "./terminal.ts";

const home = CommandHome.forEachTest();
let path: string;
beforeEach(() => {
  writeFileSync(join(home.folder, "key"), KEY_HEX);
  path = makeDatabase(home.folder, [
    { key: "ours", value: "of all agents" },
    { key: "k".repeat(600), value: "hunter2" },
    { key: "theirs", value: "of the operator", namespace: "admin" },
  ]);
});

const at = (name: string) => join(home.folder, name);
const order = (...more: readonly string[]) => [
  "import",
  "--from",
  "helmdeck",
  path,
  "--key-file",
  at("key"),
  ...more,
];
const piped = (args: readonly string[]) => runPiped(args, { homeFolder: home.folder });
const onTerminal = (args: readonly string[], typed: string | (() => string)) =>
  runOnTerminal(args, { homeFolder: home.folder, typed });
const mine = async () => {
  const { facts } = JSON.parse((await piped(["list", "--json"])).stdout);
  return Object.fromEntries(facts.map(({ key, value }: Record<string, string>) => [key, value]));
};

test("a person sees the owner of each entry, and imports what was shown", async () => {
  const no = await onTerminal(order(), "n\n");
  expect(no).toMatchObject({ code: 1, stdout: "" });
  expect(no.stderr).toContain("This would import 2 for main, admin: 2 new.");
  expect(no.stderr).toContain(
    "  openclaw-configure → main: 1\n  admin → admin: 1\nTo give a caller's memory",
  );
  expect(no.stderr).toMatch(/helmdeck\.db, "k{120}": key may have at most 512 bytes, but has 600/);
  expect(no.stderr).not.toContain("hunter2");
  expect(await mine()).toEqual({});

  const meanwhile = () => {
    makeDatabase(home.folder, [
      { key: "ours", value: "another" },
      { key: "more", value: "not shown" },
    ]);
    return "y\n";
  };
  const yes = await onTerminal(order(), meanwhile);
  expect(yes.stdout).toMatch(/^Imported 2 for main, admin: 2 new\. Refused: 1\.\n$/);
  expect(await mine()).toEqual({ ours: "of all agents" });
  const [, id] = /^To undo this: helmdeck-memory forget (import:\S+) --everyone$/m.exec(yes.stderr) ?? [];

  const asked = await onTerminal(["forget", `${id}`, "--everyone"], "n\n");
  expect(asked).toMatchObject({ code: 1, stdout: "" });
  expect(asked.stderr).toMatch(
    /would delete the only entry of the import \S+ of admin for good; [\s\S]*of the import \S+ of main for good; /,
  );
  const rest = await piped(["forget", `${id}`, "--everyone", "--yes", "--json"]);
  expect(JSON.parse(rest.stdout)).toMatchObject({
    forgotten: [
      { caller: "admin", deleted: 1 },
      { caller: "main", deleted: 1 },
    ],
  });
  expect(await mine()).toEqual({});
  const none = await piped(["forget", `${id}`, "--everyone", "--yes"]);
  expect(none).toMatchObject({ code: 0, stdout: `No memory has entries of ${id}\n` });
  expect(await piped(["forget", "all", "--everyone", "--yes"])).toMatchObject({ code: 2, stdout: "" });
});

test("without its log a person is warned, and a script needs --stopped", async () => {
  rmSync(`${path}-wal`);
  const no = await onTerminal(order(), "n\n");
  expect(no.stderr).toMatch(/^There is no log .* was copied\. If helmdeck was running, copy both files; /);
  expect(await piped(order("--dry-run"))).toMatchObject({
    stderr: expect.stringMatching(/^There is no log /),
  });
  expect(await piped(order("--yes"))).toMatchObject({ code: 1, stdout: "" });
  expect((await piped(order("--yes", "--stopped"))).stdout).toMatch(/^Imported 1 for main: 1 new/);
});

// verifies P-disk-own-names
test("the next import removes what a killed one left, but no file that another one reads, and nobody else's", async () => {
  const { pid } = spawnSync("true");
  const name = (of: number, end = "a1B2c3") => `helmdeck-memory-import-${of}-${end}`;
  const theirs = [name(process.pid), name(pid, "my-notes"), `helmdeck-memory-import-${pid}`].sort();
  for (const each of [name(pid), ...theirs]) {
    mkdirSync(at(`tmp/${each}`), { recursive: true });
    writeFileSync(at(`tmp/${each}/helmdeck.db`), "sealed");
  }
  if (process.geteuid?.() === 0) {
    theirs.push(name(pid, "b1B2c3")); // of another account, which root could delete
    mkdirSync(at(`tmp/${name(pid, "b1B2c3")}`));
    chownSync(at(`tmp/${name(pid, "b1B2c3")}`), 12_345, 12_345);
  }
  await home.run(order("--dry-run"), { env: { TMPDIR: at("tmp") } });
  expect(readdirSync(at("tmp")).sort()).toEqual(theirs.sort());
});

test("the key is read from its variable, and otherwise asked for", async () => {
  const args = ["import", "--from", "helmdeck", path, "--dry-run", "--json"];
  const none = await home.run(args);
  expect(JSON.parse(none.stderr)).toMatchObject({
    error: "key_missing",
    message: expect.stringContaining("--key-file"),
  });
  const nowhere = await home.run([...args, "--key-file", at("key")], { env: { TMPDIR: at("missing") } });
  expect(nowhere.stderr).toMatch(
    /"store_unavailable","message":"Cannot create a folder .*missing.* set TMPDIR/,
  );
  const found = await home.run(args, { env: { HELMDECK_MEMORY_KEY: KEY_HEX } });
  expect(JSON.parse(found.stdout)).toMatchObject({ dry_run: true, stored: 2, refused_count: 1 });
});

test.each([
  [["--from", "markdown", "--key-file", "key"], /--key-file is only for --from helmdeck/],
  [["--map", "a=b"], /--map is only for --from helmdeck/],
  [["--from", "helmdeck"], /--from helmdeck must be the path of one database/],
])("what belongs together is said: %j", async (args, message) => {
  const { code, stderr } = await piped(["import", "-", "--yes", ...args]);
  expect(code).toBe(1);
  expect(stderr).toMatch(message);
});
