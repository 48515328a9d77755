/** Key files: created once despite races, validated when read, and never replaced by a new key for existing data. */
import { execFile } from "node:child_process";
import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadOrMakeKey } from "../../../engine/store/find-key.ts";
import { makeKeyFile, readKeyFile } from "../../../engine/store/key-file.ts";
import { type MasterKey, parseKey } from "../../../engine/store/master-key.ts";
import { nodeSqliteDriver } from "../../../engine/store/sqlite/node-sqlite-driver.ts";
import { openSqliteStore } from "../../../engine/store/sqlite/open-sqlite.ts";
import { whyNotUnprivileged } from "../../run/unprivileged.ts";
import { childPath, spawnChild, spawnUnprivileged } from "./processes.ts";
import { makeTempFolder } from "./sqlite-rig.ts";

const HEX = "0123456789abcdef".repeat(4);
const OTHER_HEX = "fedcba9876543210".repeat(4);

let folder: string;
let keyPath: string;
let databasePath: string;

beforeEach(async () => {
  folder = await makeTempFolder();
  keyPath = join(folder, "memory.key");
  databasePath = join(folder, "data", "memory.sqlite");
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** Keys cannot be read, so this compares the keys derived from them. */
function same(a: MasterKey, b: MasterKey): boolean {
  return Buffer.compare(a.deriveBytes("test", 32), b.deriveBytes("test", 32)) === 0;
}

const places = (env: Record<string, string> = {}) => ({ env, keyPath, databasePath });

async function writeKey(path: string, content: string, mode = 0o600): Promise<void> {
  await writeFile(path, content);
  await chmod(path, mode);
}

describe("reading a key file", () => {
  test.each(["", "\n", "\r\n", "  \n"])("accepts 64 digits followed by %j", async (end) => {
    await writeKey(keyPath, `${HEX}${end}`);
    expect(same(await readKeyFile(keyPath), parseKey(HEX, "test"))).toBe(true);
  });

  test("follows a link to the file", async () => {
    await writeKey(join(folder, "elsewhere"), HEX);
    await symlink(join(folder, "elsewhere"), keyPath);
    expect(same(await readKeyFile(keyPath), parseKey(HEX, "test"))).toBe(true);
  });

  test.each([0o640, 0o604, 0o644, 0o620, 0o610, 0o666])("refuses mode %o, with the remedy", async (mode) => {
    await writeKey(keyPath, HEX, mode);
    await expect(readKeyFile(keyPath)).rejects.toMatchObject({
      code: "key_unreadable",
      message: expect.stringContaining(`chmod 600 ${keyPath}`),
    });
  });

  test.each([
    ["nothing", ""],
    ["half a key", HEX.slice(0, 32)],
    ["two keys", `${HEX}\n${OTHER_HEX}\n`],
    ["other text", "not a key at all, but a note about one that is kept somewhere else"],
    ["binary", "\0\u0001\u0002"],
  ])("refuses %s as key_malformed, and does not show it", async (_what, content) => {
    await writeKey(keyPath, content);
    const error: unknown = await readKeyFile(keyPath).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: "key_malformed", message: expect.stringContaining(keyPath) });
    if (content.length > 3)
      expect(JSON.stringify([error, String(error)])).not.toContain(content.slice(0, 12));
  });

  test("refuses a file that is too large, without reading it", async () => {
    await writeKey(keyPath, "");
    await truncate(keyPath, 2 ** 40);
    await expect(readKeyFile(keyPath)).rejects.toMatchObject({ code: "key_unreadable" });
  });

  test("refuses a folder", async () => {
    await mkdir(keyPath);
    await expect(readKeyFile(keyPath)).rejects.toMatchObject({ code: "key_unreadable" });
  });

  test("refuses a named pipe at once, instead of waiting for its writer", async () => {
    await promisify(execFile)("mkfifo", ["-m", "600", keyPath]);
    await expect(readKeyFile(keyPath)).rejects.toMatchObject({ code: "key_unreadable" });
  });

  test("reports a missing file", async () => {
    await expect(readKeyFile(keyPath)).rejects.toMatchObject({ code: "key_missing" });
    await expect(readKeyFile(join(keyPath, "below"))).rejects.toMatchObject({ code: "key_missing" });
  });

  test("reports a link to a missing file", async () => {
    await symlink(join(folder, "gone"), keyPath);
    await expect(readKeyFile(keyPath)).rejects.toMatchObject({
      code: "key_missing",
      message: expect.stringContaining("symbolic link"),
    });
  });

  test("reports an unreadable file", async (context) => {
    context.skip(whyNotUnprivileged !== undefined, whyNotUnprivileged);
    await writeKey(keyPath, HEX, 0o000);
    await chmod(folder, 0o755);
    const child = await spawnUnprivileged("load-key.ts", [keyPath, databasePath]);
    expect(await child.result()).toMatchObject({ code: "key_unreadable" });
  });
});

// verifies P-disk-owner-only
describe("for a process run as root", () => {
  const SOMEBODY = 1_234;
  const whyNotRoot = process.getuid?.() === 0 ? undefined : "only root can give a file to another account";

  test("a key file of another account is refused", async (context) => {
    context.skip(whyNotRoot !== undefined, whyNotRoot);
    await writeKey(keyPath, HEX);
    await chown(keyPath, SOMEBODY, SOMEBODY);
    await expect(readKeyFile(keyPath)).rejects.toMatchObject({
      code: "key_unreadable",
      message: expect.stringContaining("uid 1234"),
    });
    await expect(loadOrMakeKey(places())).rejects.toMatchObject({ code: "key_unreadable" });
  });

  test("a named one is used, with a warning", async (context) => {
    context.skip(whyNotRoot !== undefined, whyNotRoot);
    await writeKey(keyPath, HEX);
    await chown(keyPath, SOMEBODY, SOMEBODY);
    const { key, warning } = await loadOrMakeKey(places({ HELMDECK_MEMORY_KEY_FILE: keyPath }));
    expect([same(key, parseKey(HEX, "test")), warning]).toEqual([true, expect.stringContaining("uid 1234")]);
  });

  test("nothing is created in another account's folder, or below it", async (context) => {
    context.skip(whyNotRoot !== undefined, whyNotRoot);
    await chown(folder, SOMEBODY, SOMEBODY);
    const refusal = { code: "store_unavailable", message: expect.stringContaining("uid 1234") };
    await expect(makeKeyFile(keyPath)).rejects.toMatchObject(refusal);
    await expect(makeKeyFile(join(folder, "new", "memory.key"))).rejects.toMatchObject(refusal);
    const opening = openSqliteStore({
      path: databasePath,
      key: parseKey(HEX, "test"),
      driver: nodeSqliteDriver,
    });
    await expect(opening).rejects.toMatchObject(refusal);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe("making a key file", () => {
  test("creates a complete private one, and leaves nothing else", async () => {
    const { key, made } = await makeKeyFile(keyPath);
    expect(made).toBe(true);
    expect((await stat(keyPath)).mode & 0o777).toBe(0o600);
    expect(await readFile(keyPath, "latin1")).toMatch(/^[0-9a-f]{64}\n$/);
    expect(same(await readKeyFile(keyPath), key)).toBe(true);
    expect(await readdir(folder)).toEqual(["memory.key"]);
  });

  test("creates missing private folders", async () => {
    const deep = join(folder, "a", "b", "memory.key");
    await makeKeyFile(deep);
    expect((await stat(join(folder, "a"))).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, "a", "b"))).mode & 0o777).toBe(0o700);
  });

  test("makes a different key each time", async () => {
    const first = await makeKeyFile(keyPath);
    const second = await makeKeyFile(join(folder, "second.key"));
    expect(same(first.key, second.key)).toBe(false);
  });

  test("returns an existing one's key without changing it", async () => {
    await writeKey(keyPath, HEX);
    const { key, made } = await makeKeyFile(keyPath);
    expect([made, same(key, parseKey(HEX, "test"))]).toEqual([false, true]);
    expect(await readFile(keyPath, "latin1")).toBe(HEX);
  });

  test("throws the error of an existing invalid one without changing it", async () => {
    await writeKey(keyPath, "broken");
    await expect(makeKeyFile(keyPath)).rejects.toMatchObject({ code: "key_malformed" });
    expect(await readFile(keyPath, "latin1")).toBe("broken");
    expect(await readdir(folder)).toEqual(["memory.key"]);
  });

  test("does not write through a dangling link", async () => {
    await symlink(join(folder, "gone"), keyPath);
    await expect(makeKeyFile(keyPath)).rejects.toMatchObject({ code: "key_missing" });
    expect(await readdir(folder)).toEqual(["memory.key"]);
  });

  test("in one process, concurrent calls agree on one key", async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => makeKeyFile(keyPath)));
    expect(made.filter((one) => one.made)).toHaveLength(1);
    for (const { key } of made) expect(same(key, made[0]?.key ?? key)).toBe(true);
    expect(await readdir(folder)).toEqual(["memory.key"]);
  });

  test("in a read-only folder is store_readonly", async (context) => {
    context.skip(whyNotUnprivileged !== undefined, whyNotUnprivileged);
    await chmod(folder, 0o555);
    const child = await spawnUnprivileged("load-key.ts", [keyPath, databasePath]);
    expect(await child.result()).toMatchObject({ code: "store_readonly" });
    expect(await readdir(folder)).toEqual([]);
  });
});

// verifies P-key-never-guessed
describe("the key's source", () => {
  test("is the configuration, then HELMDECK_MEMORY_KEY, then HELMDECK_MEMORY_KEY_FILE, then the default file", async () => {
    const [first, second, third, fourth] = ["aa", "bb", "cc", "dd"].map((pair) => pair.repeat(32));
    if (!first || !second || !third || !fourth) throw new Error("four keys");
    const named = join(folder, "named.key");
    await writeKey(named, third);
    await writeKey(keyPath, fourth);
    const env = { HELMDECK_MEMORY_KEY: second, HELMDECK_MEMORY_KEY_FILE: named };
    const expected: readonly [Parameters<typeof loadOrMakeKey>[0], string, string][] = [
      [{ ...places(env), configuredKey: first }, first, "the configured key"],
      [places(env), second, "HELMDECK_MEMORY_KEY"],
      [places({ HELMDECK_MEMORY_KEY_FILE: named }), third, `HELMDECK_MEMORY_KEY_FILE (${named})`],
      [places({ HELMDECK_MEMORY_KEY: "", HELMDECK_MEMORY_KEY_FILE: "" }), fourth, keyPath],
    ];
    for (const [given, hex, source] of expected) {
      const loaded = await loadOrMakeKey(given);
      expect([same(loaded.key, parseKey(hex, "test")), loaded.source, loaded.made]).toEqual([
        true,
        source,
        false,
      ]);
    }
  });

  test("only the first configured source is tried: its error is not hidden", async () => {
    await writeKey(keyPath, HEX);
    const env = { HELMDECK_MEMORY_KEY: HEX, HELMDECK_MEMORY_KEY_FILE: keyPath };
    await expect(loadOrMakeKey({ ...places(env), configuredKey: "" })).rejects.toMatchObject({
      code: "key_malformed",
    });
    await expect(loadOrMakeKey(places({ ...env, HELMDECK_MEMORY_KEY: " " }))).rejects.toMatchObject({
      code: "key_malformed",
      message: expect.stringContaining("HELMDECK_MEMORY_KEY"),
    });
    const gone = { HELMDECK_MEMORY_KEY_FILE: join(folder, "gone") };
    await expect(loadOrMakeKey(places(gone))).rejects.toMatchObject({ code: "key_missing" });
    expect(await readdir(folder)).toEqual(["memory.key"]);
  });

  test("a named file that others can read is used with a warning, as container secrets are; the default file is refused", async () => {
    await writeKey(keyPath, HEX, 0o444);
    const loaded = await loadOrMakeKey(places({ HELMDECK_MEMORY_KEY_FILE: keyPath }));
    expect([same(loaded.key, parseKey(HEX, "test")), loaded.warning]).toEqual([
      true,
      expect.stringContaining("0444"),
    ]);
    await expect(loadOrMakeKey(places())).rejects.toMatchObject({ code: "key_unreadable" });
  });

  test("without key and data a key file is created, once", async () => {
    const first = await loadOrMakeKey(places());
    expect([first.made, first.source, first.warning]).toEqual([true, keyPath, undefined]);
    const second = await loadOrMakeKey(places());
    expect([second.made, same(first.key, second.key)]).toEqual([false, true]);
  });

  test("data without its key is key_missing: no new key is created for it", async () => {
    const { key } = await loadOrMakeKey(places());
    const store = await openSqliteStore({ path: databasePath, key, driver: nodeSqliteDriver });
    await store.close();
    await rm(keyPath);
    await expect(loadOrMakeKey(places())).rejects.toMatchObject({
      code: "key_missing",
      details: { keyPath, databasePath },
      message: expect.stringContaining("Restore the key file from your backup"),
    });
    expect(await readdir(folder)).toEqual(["data"]);
  });

  test("data that is only in the log counts, also behind a link", async () => {
    const elsewhere = join(folder, "elsewhere.sqlite");
    await mkdir(join(folder, "data"));
    await writeFile(elsewhere, "");
    await writeFile(`${elsewhere}-wal`, "frames");
    await symlink(elsewhere, databasePath);
    await expect(loadOrMakeKey(places())).rejects.toMatchObject({ code: "key_missing" });
  });

  test("an empty file of a killed process is not data", async () => {
    await mkdir(join(folder, "data"));
    await writeFile(databasePath, "");
    expect(await loadOrMakeKey(places())).toMatchObject({ made: true });
  });

  test("several processes that start at once agree on one key", async () => {
    const children = Array.from({ length: 6 }, () =>
      spawnChild(childPath("load-key.ts"), [keyPath, databasePath]),
    );
    const results = await Promise.all(children.map((child) => child.result()));
    const marks = results.map((result) => result.mark);
    expect(new Set(marks).size).toBe(1);
    expect(marks[0]).toMatch(/^[0-9a-f]{16}$/);
    expect(results.filter((result) => result.made === true)).toHaveLength(1);
    expect(await readdir(folder)).toEqual(["memory.key"]);
  });
});
