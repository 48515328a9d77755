/** Looking changes nothing: somebody else's database stays as it is to the byte, and what cannot be written can be read. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { whyNotUnprivileged } from "../run/unprivileged.ts";
import { CommandHome, finish } from "./command.ts";

let home: CommandHome;
let others: DatabaseSync[] = [];
beforeEach(() => {
  home = new CommandHome();
});
afterEach(() => {
  for (const other of others) other.close();
  others = [];
  home.remove();
});

/** Names, bytes and times of every file of a folder. */
function stateOf(folder: string): Readonly<Record<string, unknown>> {
  const names = readdirSync(folder).sort();
  return Object.fromEntries(
    names.map((name) => {
      const { mtimeMs, ctimeMs, mode, ino } = statSync(join(folder, name));
      return [
        name,
        { mtimeMs, ctimeMs, mode, ino, bytes: readFileSync(join(folder, name)).toString("base64") },
      ];
    }),
  );
}

/** Somebody else's database, as he left it in a folder of its own. */
type Foreign = (path: string) => void;

function write(path: string, ...statements: readonly string[]): DatabaseSync {
  const other = new DatabaseSync(path);
  others.push(other);
  for (const sql of statements) other.exec(sql);
  return other;
}

/** Copies of what a process has open, as if it had been killed. */
function copyOf(endings: readonly string[], ...statements: readonly string[]): Foreign {
  return (path) => {
    const live = join(home.folder, "live.sqlite");
    write(live, ...statements);
    for (const ending of endings) copyFileSync(`${live}${ending}`, `${path}${ending}`);
  };
}

const WAL = [
  "PRAGMA journal_mode = WAL",
  "CREATE TABLE recipes (title TEXT)",
  "INSERT INTO recipes VALUES ('soup')",
];
const FOLDED = [...WAL, "PRAGMA wal_checkpoint(TRUNCATE)", "INSERT INTO recipes VALUES ('stew')"];

const FOREIGN: Readonly<Record<string, Foreign>> = {
  "that is open, with all in its log": (path) => void write(path, ...WAL),
  "that is open, and was folded": (path) => void write(path, ...FOLDED),
  "that was left with its log and index, with all in the log": copyOf(["", "-wal", "-shm"], ...WAL),
  "that was left with its log alone, with all in the log": copyOf(["", "-wal"], ...WAL),
  "that was left with its log alone, and was folded": copyOf(["", "-wal"], ...FOLDED),
  "without its log": copyOf([""], ...FOLDED),
  "that was closed": (path) => {
    const other = new DatabaseSync(path);
    for (const sql of FOLDED) other.exec(sql);
    other.close();
  },
  "with a journal to be rolled back": copyOf(
    ["", "-journal"],
    "CREATE TABLE recipes (title TEXT)",
    "PRAGMA cache_size = 1",
    "BEGIN",
    "INSERT INTO recipes WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT hex(randomblob(100)) FROM n",
  ),
  "with another program's mark and nothing else": copyOf(
    ["", "-wal"],
    "PRAGMA journal_mode = WAL",
    "PRAGMA application_id = 7",
    "PRAGMA wal_checkpoint",
    "PRAGMA user_version = 1",
  ),
};

const COMMANDS: readonly (readonly string[])[] = [
  ["store", "k", "v"],
  ["get", "k"],
  ["list"],
  ["search", "soup"],
  ["forget", "everything", "--yes"],
  ["import", "facts.jsonl"],
  ["export"],
  ["doctor"],
  ["mcp"],
  ["serve", "--port", "0", "--require-memory"],
];

// verifies P-look-changes-nothing
describe.each(Object.entries(FOREIGN))("somebody else's database %s", (_, make) => {
  test("stays as it is, whatever is asked, and no key is made for it", async () => {
    await home.write("facts.jsonl", '{"key":"k","value":"v"}\n');
    const folder = home.path("theirs");
    mkdirSync(folder);
    const path = join(folder, "theirs.sqlite");
    make(path);
    const before = stateOf(folder);
    for (const command of COMMANDS) {
      const { code, stdout, stderr } = await home.run([...command, "--db", path]);
      expect(`${command[0]}: ${stdout}${stderr}`).toMatch(
        /store_not_ours|SQLite database of another program/,
      );
      if (command[0] !== "mcp") expect([command[0], code]).toEqual([command[0], 1]);
      expect(stateOf(folder), command[0]).toEqual(before);
    }
    expect(existsSync(home.keyPath)).toBe(false);
  });

  test("stays as it is beside a server that serves without memory", async () => {
    const folder = home.path("theirs");
    mkdirSync(folder);
    const path = join(folder, "theirs.sqlite");
    make(path);
    const before = stateOf(folder);
    const server = home.start(["serve", "--port", "0", "--db", path], {
      env: { HELMDECK_MEMORY_KEY: "ab".repeat(32) },
    });
    const ended = finish(server);
    await new Promise((resolve) => server.stdout.once("data", resolve));
    server.kill("SIGTERM");
    expect((await ended).stderr).toContain("store_not_ours");
    expect(stateOf(folder)).toEqual(before);
  });
});

// verifies P-look-changes-nothing
describe("a database that cannot be written", () => {
  beforeEach(async (context) => {
    context.skip(whyNotUnprivileged !== undefined, whyNotUnprivileged);
    await home.run(["store", "deploy/konflux", "We deploy through Konflux"]);
  });

  /** Facts that lie in the log alone, as a process that is still at work or was killed leaves them. */
  function leaveLog(...endings: readonly string[]): void {
    const live = join(home.folder, "live.sqlite");
    copyFileSync(home.databasePath, live);
    write(live, "PRAGMA wal_autocheckpoint = 0", "UPDATE store SET prunes = prunes");
    for (const ending of ["", ...endings]) copyFileSync(`${live}${ending}`, `${home.databasePath}${ending}`);
  }

  const left: Readonly<Record<string, readonly string[]>> = {
    "closed in order": [],
    "with a log and its index": ["-wal", "-shm"],
    "with a log without its index": ["-wal"],
  };

  test.each(Object.entries(left))(
    "%s is read by every command that reads, and refuses the others",
    async (_, endings) => {
      if (endings.length > 0) leaveLog(...endings);
      home.handToUnprivileged();
      const folder = dirname(home.databasePath);
      for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o400);
      chmodSync(folder, 0o500);
      const before = stateOf(folder);
      const answers = [
        [["get", "deploy/konflux"], "Konflux"],
        [["list"], "deploy/konflux"],
        [["search", "konflux"], "Konflux"],
        [["export"], '"value":"We deploy through Konflux"'],
        [["doctor"], "cannot be written: memory can be read"],
      ] as const;
      for (const [command, expected] of answers) {
        const { code, stdout, stderr } = await home.run(command);
        expect([command[0], code, stderr]).toEqual([command[0], 0, expect.not.stringContaining("store_")]);
        expect(stdout).toContain(expected);
      }
      for (const command of [
        ["store", "k", "v"],
        ["forget", "key:deploy/konflux", "--yes"],
      ]) {
        const { code, stderr } = await home.run(command);
        expect([code, stderr]).toEqual([1, expect.stringMatching(/^store_readonly: /)]);
      }
      const { "memory.sqlite-shm": __, ...after } = stateOf(folder);
      const { "memory.sqlite-shm": ___, ...same } = before;
      expect(after).toEqual(same);
      chmodSync(folder, 0o700);
    },
  );
});
