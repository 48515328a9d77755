/** Problems with key, database and disk on the command line: one line, a code, a remedy, and no data loss. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, test } from "vitest";
import { whyNotUnprivileged } from "../run/unprivileged.ts";
import type { Finished } from "./command.ts";
import { InProcessHome } from "./in-process.ts";

const VALUE = "We deploy through Konflux";
const OTHER_KEY = "ab".repeat(32);
const SERVER = "postgres://engine@127.0.0.1:1/memory";
const WITH_KEY = { HELMDECK_MEMORY_KEY: OTHER_KEY };

const home = InProcessHome.forEachTest();
let key: string;
beforeEach(async () => {
  await home.run(["store", "deploy/konflux", VALUE]);
  key = readFileSync(home.keyPath, "utf8");
});

/** Expects one line with this error code, without a stack trace, a value or a key. Expects the same as JSON. */
async function expectFailure(
  code: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const told = await home.run(args, { env });
  expect(told).toMatchObject({ code: 1, stdout: "" });
  expect(told.stderr).toMatch(new RegExp(`^${code}: [^\n]{20,}\n$`));
  expectNothingLeaks(told);
  const json = await home.run([...args, "--json"], { env });
  expect(json).toMatchObject({ code: 1, stdout: "" });
  expect(JSON.parse(json.stderr)).toEqual({
    error: code,
    message: expect.any(String),
    details: expect.any(Object),
  });
  expectNothingLeaks(json);
  return told.stderr;
}

function expectNothingLeaks({ stdout, stderr }: Finished): void {
  const said = stdout + stderr;
  expect(said).not.toContain(VALUE);
  expect(said).not.toContain(OTHER_KEY);
  expect(said).not.toContain(key.slice(0, 16));
  expect(said).not.toMatch(/\n\s+at |node:internal|\.ts:\d+/);
}

async function expectNothingLost(): Promise<void> {
  expect(await home.run(["get", "deploy/konflux"])).toMatchObject({ code: 0, stdout: `${VALUE}\n` });
}

const COMMANDS = [
  ["store", "k", "v"],
  ["get", "deploy/konflux"],
  ["list"],
  ["search", "konflux"],
  ["forget", "everything", "--yes"],
  ["import", "facts.jsonl"],
  ["export"],
];

// verifies P-key-never-guessed
describe("a missing key, after data exists", () => {
  test.each(COMMANDS)("stops %s; no new key is created, nothing is lost", async (...args) => {
    await home.write("facts.jsonl", JSON.stringify({ key: "k", value: "v" }));
    rmSync(home.keyPath);
    await expectFailure("key_missing", args);
    expect(existsSync(home.keyPath)).toBe(false);
    writeFileSync(home.keyPath, key, { mode: 0o600 });
    await expectNothingLost();
  });
});

// verifies P-key-never-guessed
describe("a wrong key", () => {
  test.each(COMMANDS)("stops %s; nothing is read or written under it", async (...args) => {
    await home.write("facts.jsonl", JSON.stringify({ key: "k", value: "v" }));
    await expectFailure("key_wrong", args, { HELMDECK_MEMORY_KEY: OTHER_KEY });
    await expectNothingLost();
    expect(await home.run(["get", "k"])).toMatchObject({ code: 1 });
  });
});

describe("a key that cannot be used", () => {
  test.each([
    ["too short", "abc123"],
    ["not hexadecimal", "zz".repeat(32)],
    ["followed by something", `${"ab".repeat(32)} # my key`],
  ])("%s, in the environment", async (_name, malformed) => {
    const said = await expectFailure("key_malformed", ["list"], { HELMDECK_MEMORY_KEY: malformed });
    expect(said).not.toContain(malformed);
    await expectNothingLost();
  });

  test.each([
    [
      "malformed in its file",
      () => writeFileSync(home.keyPath, "canary\n"),
      "key_malformed",
      () => home.keyPath,
    ],
    ["readable by others", () => chmodSync(home.keyPath, 0o644), "key_unreadable", () => "chmod 600"],
    ["a folder in its place", () => putFolderAt(home.keyPath), "key_unreadable", () => "key_unreadable"],
  ])("%s", async (_name, spoil, code, told) => {
    spoil();
    const said = await expectFailure(code, ["list"]);
    expect(said).toContain(told());
    expect(said).not.toContain("canary");
    rmSync(home.keyPath, { recursive: true });
    writeFileSync(home.keyPath, key, { mode: 0o600 });
    await expectNothingLost();
  });

  test("a key file named by the environment that is not there", async () => {
    await expectFailure("key_missing", ["list"], { HELMDECK_MEMORY_KEY_FILE: home.path("no.key") });
    await expectNothingLost();
  });
});

/** What somebody made with mkfifo ends only when somebody else writes. */
describe("a named pipe in place of a file", () => {
  const pipe = () => {
    execFileSync("mkfifo", ["-m", "600", home.path("pipe")]);
    return home.path("pipe");
  };

  test.each<[string, (pipe: string) => [args: readonly string[], env?: Record<string, string>]]>([
    ["import", (pipe) => [["import", pipe, "--dry-run"]]],
    ["restore", (pipe) => [["restore", pipe]]],
    ["list", (pipe) => [["list"], { HELMDECK_MEMORY_KEY_FILE: pipe }]],
    ["another database", (pipe) => [["list", "--db", pipe]]],
    [
      "a server's certificate",
      (pipe) => [["list", "--store", `${SERVER}?sslmode=verify-full&sslrootcert=${pipe}`], WITH_KEY],
    ],
    [
      "a service",
      (pipe) => [["list", "--store", "postgres://?service=x"], { ...WITH_KEY, PGSERVICEFILE: pipe }],
    ],
  ])("stops %s at once", async (_, asked) => {
    const [args, env = {}] = asked(pipe());
    const { code, stderr } = await home.run(args, { env });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/not a regular file|neither in .*pipe/)]);
  });

  test("as OpenClaw's configuration lets a search find", async () => {
    const found = await home.run(["search", "konflux"], { env: { OPENCLAW_CONFIG_PATH: pipe() } });
    expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining(VALUE) });
    expect(found.stderr).toMatch(/configuration .*pipe cannot be read/);
  });
});

describe("a foreign database", () => {
  test("of another program is not touched", async () => {
    const path = home.path("other.sqlite");
    const other = new DatabaseSync(path);
    other.exec("CREATE TABLE recipes (title TEXT); INSERT INTO recipes VALUES ('soup')");
    other.close();
    const before = readFileSync(path);
    expect(await expectFailure("store_not_ours", ["store", "k", "v", "--db", path])).toContain(path);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("but a text is not touched", async () => {
    await home.write("notes.txt", "Dear diary, this is no database.\n".repeat(200));
    const before = readFileSync(home.path("notes.txt"));
    await expectFailure("store_not_ours", ["list", "--db", "notes.txt"]);
    expect(readFileSync(home.path("notes.txt")).equals(before)).toBe(true);
  });

  test("but a folder", async () => {
    mkdirSync(home.path("folder.sqlite"));
    await expectFailure("store_unavailable", ["list", "--db", "folder.sqlite"]);
  });
});

describe("a database of a newer version", () => {
  test("is left alone", async () => {
    const { user_version: ours } = query("PRAGMA user_version") as { user_version: number }; // SQLite's own column name
    query("PRAGMA user_version = 9999");
    await expectFailure("store_newer", ["store", "k", "v"]);
    query(`PRAGMA user_version = ${ours}`);
    await expectNothingLost();
  });
});

describe("a damaged database", () => {
  test("cut in half is reported, not repaired or emptied", async () => {
    const size = statSync(home.databasePath).size;
    truncateSync(home.databasePath, Math.floor(size / 2));
    await expectFailure("store_corrupt", ["list"]);
    await expectFailure("store_corrupt", ["store", "k", "v"]);
    expect(statSync(home.databasePath).size).toBe(Math.floor(size / 2));
  });

  // verifies P-durable-damage
  test("with one row that was changed shows every other row", async () => {
    await home.run(["store", "healthy", "still here"]);
    // Changes the sealed data of one row, like a failing disk or an attacker.
    const moved = "UPDATE entries SET category = 'moved' WHERE key = ? RETURNING key";
    expect(query(moved, "deploy/konflux")).toBeDefined();
    await expectFailure("entry_unreadable", ["get", "deploy/konflux"]);
    expect(await home.run(["get", "healthy"])).toMatchObject({ code: 0, stdout: "still here\n" });
    const listed = await home.run(["list"]);
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining("healthy") });
    expect(listed.stderr).toMatch(/^deploy\/konflux exists but cannot be opened/);
    expect(JSON.parse((await home.run(["list", "--json"])).stdout)).toMatchObject({
      facts: [{ key: "healthy" }],
      unreadable: ["deploy/konflux"],
    });
    expect((await home.run(["search", "still", "here"])).stdout).toContain("healthy");
    expect((await home.run(["doctor"])).stdout).toMatch(/1 row cannot be opened/);
  });
});

// verifies P-durable-full-disk
describe("a read-only location", () => {
  beforeEach((context) => context.skip(whyNotUnprivileged !== undefined, whyNotUnprivileged));

  test("stops a write; nothing is lost", async () => {
    const folder = join(home.stateFolder, "helmdeck-memory");
    home.handToUnprivileged();
    chmodSync(home.databasePath, 0o400);
    chmodSync(folder, 0o500);
    await expectFailure("store_readonly", ["store", "k", "v"]);
    chmodSync(folder, 0o700);
    chmodSync(home.databasePath, 0o600);
    await expectNothingLost();
  });

  test("stops an export there, in one line", async () => {
    home.handToUnprivileged();
    chmodSync(home.folder, 0o500);
    expect(await expectFailure("invalid_input", ["export", "--output", "out.jsonl"])).toContain(
      "permission was denied",
    );
    chmodSync(home.folder, 0o700);
    expect(existsSync(home.path("out.jsonl"))).toBe(false);
  });

  test("stops the first use", async () => {
    rmSync(home.stateFolder, { recursive: true });
    home.handToUnprivileged();
    chmodSync(home.folder, 0o500);
    const told = await home.run(["store", "k", "v"]);
    expect(told.code).toBe(1);
    expect(told.stderr).toMatch(/^(store_readonly|store_unavailable|key_unreadable): [^\n]+\n$/);
    chmodSync(home.folder, 0o700);
  });
});

describe("a database that another process has locked", () => {
  test("stops a write with one line, and reads still work", async () => {
    const other = new DatabaseSync(home.databasePath);
    other.exec("BEGIN IMMEDIATE");
    try {
      const told = await home.runProcess(["store", "k", "v"]);
      expect(told).toMatchObject({ code: 1, stdout: "" });
      expect(told.stderr).toMatch(/^store_locked: [^\n]+\n$/);
      expect(await home.runProcess(["search", "konflux", "--json"])).toMatchObject({ code: 0 });
      expect(await home.runProcess(["get", "deploy/konflux"])).toMatchObject({
        code: 0,
        stdout: `${VALUE}\n`,
      });
    } finally {
      other.exec("ROLLBACK");
      other.close();
    }
    expect(await home.run(["store", "k", "v"])).toMatchObject({ code: 0 });
  });
});

describe("doctor, when memory does not open", () => {
  test("says what is wrong and what to do, and fails", async () => {
    const { code, stdout, stderr } = await home.run(["doctor"], { env: { HELMDECK_MEMORY_KEY: OTHER_KEY } });
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(stdout).toMatch(/^error {3}.*key_wrong/m);
    expect(stdout).toContain(home.databasePath);
  });

  test("says the same to a script", async () => {
    rmSync(home.keyPath);
    const { code, stdout } = await home.run(["doctor", "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({ level: "error", message: expect.stringContaining("key_missing") }),
      ]),
    });
    expect(existsSync(home.keyPath)).toBe(false);
  });
});

function putFolderAt(path: string): void {
  rmSync(path);
  mkdirSync(path);
}

function query(sql: string, ...values: readonly string[]): unknown {
  const database = new DatabaseSync(home.databasePath);
  try {
    return database.prepare(sql).get(...values);
  } finally {
    database.close();
  }
}
