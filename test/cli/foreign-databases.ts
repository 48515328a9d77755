/** Other programs' databases in various states, and checks that a folder was not touched. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished } from "vitest";
import type { Finished } from "./command.ts";

/** Names, metadata and bytes of all files in a folder. */
export function stateOf(folder: string): Readonly<Record<string, unknown>> {
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

/** Writes to a database that stays open until the test ends. */
export function write(path: string, ...statements: readonly string[]): void {
  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  for (const sql of statements) other.exec(sql);
}

/** Writes another program's database. */
type Foreign = (path: string) => void;

/** Copies files while a process has them open, as if it had been killed. */
function copyOf(endings: readonly string[], ...statements: readonly string[]): Foreign {
  return (path) => {
    const live = join(dirname(dirname(path)), "live.sqlite");
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

/** Databases that another program has open. Only a separate process meets its locks. */
export const OPEN: Readonly<Record<string, Foreign>> = {
  "that is open, with all in its log": (path) => write(path, ...WAL),
  "that is open, and was folded": (path) => write(path, ...FOLDED),
};

export const LEFT: Readonly<Record<string, Foreign>> = {
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

/** Makes one of them in a folder of its own, and returns the state of that folder. */
export function putInto(folder: string, make: Foreign) {
  mkdirSync(folder);
  const path = join(folder, "theirs.sqlite");
  make(path);
  return { path, before: stateOf(folder) };
}

/** Every command refuses the database and leaves it unchanged. */
export async function expectUntouched(
  make: Foreign,
  folder: string,
  run: (args: readonly string[]) => Promise<Finished>,
): Promise<void> {
  const { path, before } = putInto(folder, make);
  for (const command of COMMANDS) {
    const { code, stdout, stderr } = await run([...command, "--db", path]);
    expect(`${command[0]}: ${stdout}${stderr}`).toMatch(/store_not_ours|SQLite database of another program/);
    if (command[0] !== "mcp") expect([command[0], code]).toEqual([command[0], 1]);
    expect(stateOf(folder), command[0]).toEqual(before);
  }
}
