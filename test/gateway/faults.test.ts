/** If our memory fails, OpenClaw's own search continues, with one warning. When memory works again, our search continues too. */

import { copyFile, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type OpenClawHost,
  startOpenClaw,
  type ToolReply,
} from "../../scripts/openclaw-host/openclaw-host.ts";
import { NOTES } from "./setup.ts";
import {
  hitsOf,
  installFaultyWorker,
  patchConfig,
  pathsOf,
  resultOfSetUp,
  whilePluginIsOff,
  workerFileOf,
} from "./shared.ts";

const PATH = "helmdeck/user_facts/konflux/deployment-preference.md";
const QUERY = "what was that thing about my Konflux deployment preference";
/** Our own deadline is three seconds, the host's is thirty. The machine may be busy. */
const ANSWERED_WITHIN_MS = 10_000;

let host: OpenClawHost;
let files: { readonly database: string; readonly key: string; readonly worker: string };

beforeAll(async () => {
  host = await startOpenClaw({ plugins: [(await resultOfSetUp()).tarball], notes: NOTES });
  const { stateDir } = host.home;
  files = {
    database: join(stateDir, "helmdeck-memory", "memory.sqlite"),
    key: join(stateDir, "helmdeck-memory.key"),
    worker: workerFileOf(host),
  };
  const fact = { key: "konflux/deployment-preference", value: "Konflux: staging first, never on a Friday." };
  expect((await host.invokeTool("helmdeck__memory_store", fact)).status).toBe(200);
  expect(pathsOf(await search(), "memory")).toContain("MEMORY.md");
});

afterAll(() => host?.stop());

// verifies P-quiet-host
describe("an error with the key or the database", () => {
  const troubles = [
    {
      trouble: "the key file is missing",
      cause: () => rm(files.key),
      warning: "the memory key is missing",
      code: "key_missing",
    },
    {
      trouble: "the key belongs to another database",
      cause: () => writeFile(files.key, `${"5".repeat(64)}\n`),
      warning: "the memory key belongs to another database",
      code: "key_wrong",
    },
    {
      trouble: "the key is malformed",
      cause: () => writeFile(files.key, "not a key\n"),
      warning: "the memory key is malformed",
      code: "key_malformed",
    },
    {
      trouble: "the database is overwritten in the middle",
      cause: () => overwrite(files.database),
      warning: "the database is damaged",
      code: "store_corrupt",
    },
    {
      trouble: "the database is another program's",
      cause: () => replaceDatabase("CREATE TABLE recipes (title TEXT)"),
      warning: "the database file is not helmdeck's",
      code: "store_not_ours",
    },
    {
      trouble: "the database is of a newer version",
      cause: () => changeDatabase("PRAGMA user_version = 9999"),
      warning: "the database was written by a newer version",
      code: "store_newer",
    },
  ];

  it.each(troubles)(
    "$trouble: OpenClaw's notes are found with one warning, and nothing is written",
    async ({ cause, warning, code }) => {
      const mend = await whilePluginIsOff(host, async () => {
        const undo = await keepCopies();
        await cause();
        return undo;
      });
      const before = await readFile(files.database);

      const found = await search();
      expectOwnHitsAnd(found, warning);
      const read = await host.invokeTool("memory_get", { path: PATH });
      expect(read.details.status).not.toBe("ok");
      const stored = await host.invokeTool("helmdeck__memory_store", { key: "k", value: "v" });
      expect(stored).toMatchObject({ ok: false, status: 400 });
      expect(stored.error?.message).toContain(code);
      expect(await readFile(files.database)).toEqual(before);

      await whilePluginIsOff(host, mend);
      expect(pathsOf(await search(), "helmdeck")).toEqual([PATH]);
    },
  );

  it("memory recovers without a reload after the key file is restored", async () => {
    await whilePluginIsOff(host, () => rename(files.key, `${files.key}.away`));
    expectOwnHitsAnd(await search(), "the memory key is missing");
    await rename(`${files.key}.away`, files.key);
    await expect.poll(async () => pathsOf(await search(), "helmdeck")).toEqual([PATH]);
  });
});

describe("a database that another process has locked", () => {
  it("for writing: is still searched, and a store reports the lock", async () => {
    const other = new DatabaseSync(files.database);
    other.exec("BEGIN IMMEDIATE");
    try {
      expect(pathsOf(await search(), "helmdeck")).toEqual([PATH]);
      const stored = await host.invokeTool("helmdeck__memory_store", { key: "k", value: "v" });
      expect(stored.error?.message).toContain("store_locked");
    } finally {
      other.close();
    }
    const stored = await host.invokeTool("helmdeck__memory_store", { key: "k", value: "v" });
    expect(stored.status).toBe(200);
  });

  it("for reading and writing: OpenClaw's notes are found with a warning, and facts again after the lock is released", async () => {
    const other = await whilePluginIsOff(host, async () => {
      const database = new DatabaseSync(files.database);
      database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
      return database;
    });
    try {
      expectOwnHitsAnd(await search(), /the database is locked by another process|it did not answer in time/);
      const stored = await host.invokeTool("helmdeck__memory_store", { key: "k", value: "v" });
      expect(stored.error?.message).toContain("store_locked");
    } finally {
      other.close();
    }
    await expect.poll(async () => pathsOf(await search(), "helmdeck")).toEqual([PATH]);
  });
});

describe("a bad configuration", () => {
  it.each([
    { encryptionKey: "too short" },
    { encryptionKey: { source: "env" } },
    { databasePath: "relative.sqlite" },
    { databasePath: "/tmp/not-a-database.txt" },
    { allow: ["everyone"] },
    { subjects: { main: "" } },
    { unknownSetting: true },
  ])("%j is refused, and memory continues to work", async (config) => {
    await expect(configure(config)).rejects.toThrow(/helmdeck-memory/);
    expect(pathsOf(await search(), "helmdeck")).toEqual([PATH]);
  });

  it("a key that refers to an unreadable secret closes memory, with a warning that does not name the secret", async () => {
    await configure({
      encryptionKey: { source: "env", provider: "default", id: "HELMDECK_TEST_NO_SUCH_KEY" },
    });
    try {
      const found = await search();
      expectOwnHitsAnd(found, "the memory key cannot be read");
      const stored = await host.invokeTool("helmdeck__memory_store", { key: "k", value: "v" });
      expect(stored.error?.message).toContain("key_unreadable");
    } finally {
      await configure({ encryptionKey: null });
    }
    expect(pathsOf(await search(), "helmdeck")).toEqual([PATH]);
  });
});

// verifies P-quiet-host, P-quiet-deadline
describe("a faulty source", () => {
  let real: Buffer;

  beforeAll(async () => {
    real = await readFile(files.worker);
    await installFaultyWorker(host);
  });

  afterAll(async () => {
    await whilePluginIsOff(host, () => writeFile(files.worker, real));
    expect(pathsOf(await search(), "helmdeck")).toEqual([PATH]);
  });

  it("that works is searched (control)", async () => {
    const found = await search("good konflux deployment");
    expect(pathsOf(found, "helmdeck")).toEqual(["helmdeck/user_facts/good.md"]);
    expect(pathsOf(found, "memory")).toContain("MEMORY.md");
  });

  it("that hangs is abandoned after about three seconds, not thirty", async () => {
    const found = await search("hang konflux deployment");
    expectOwnHitsAnd(found, "it did not answer in time");
    expect(found.ms).toBeGreaterThan(2_500);
    expect(found.ms).toBeLessThan(ANSWERED_WITHIN_MS);
  });

  it("that throws does not show the error's text", async () => {
    const found = await search("throw konflux deployment");
    expectOwnHitsAnd(found, "it failed");
    expect(found.text).not.toMatch(/0123456789abcdef|someone/);
  });

  it("that returns malformed hits loses only these; the valid hit and the notes are shown", async () => {
    const found = await search("malformed konflux deployment");
    expect(pathsOf(found, "helmdeck")).toEqual(["helmdeck/user_facts/good.md"]);
    expect(pathsOf(found, "memory")).toContain("MEMORY.md");
    expect(found.details.disabled).toBeUndefined();
    expect(hitsOf(found).every((hit) => typeof hit.path === "string" && Number.isFinite(hit.score))).toBe(
      true,
    );
  });

  it("that returns nothing does not affect the notes", async () => {
    const found = await search("nothing konflux deployment");
    expect(pathsOf(found, "helmdeck")).toEqual([]);
    expect(pathsOf(found, "memory")).toContain("MEMORY.md");
  });

  it("that dies does not affect the notes, and is restarted for the next search", async () => {
    expectOwnHitsAnd(await search("die konflux deployment"), "it did not start, or lost its database");
    const next = async () => pathsOf(await search("good konflux deployment"), "helmdeck");
    await expect.poll(next).toEqual(["helmdeck/user_facts/good.md"]);
  });
});

function search(query = QUERY): Promise<ToolReply> {
  return host.invokeTool("memory_search", { query });
}

function expectOwnHitsAnd(found: ToolReply, warning: string | RegExp): void {
  expect(found.status).toBe(200);
  expect(pathsOf(found, "memory")).toContain("MEMORY.md");
  expect(pathsOf(found, "helmdeck")).toEqual([]);
  expect(found.details.disabled).toBeUndefined();
  const shown = String(found.details.warning);
  expect(shown).toMatch(
    /^Wiki corpus unavailable: helmdeck memory is not available: [^\n]*; run openclaw helmdeck doctor$/,
  );
  expect(shown).toMatch(warning);
  expect(found.text).not.toContain(files.key);
}

function configure(config: Parameters<typeof patchConfig>[1]): Promise<void> {
  return patchConfig(host, { plugins: { entries: { "helmdeck-memory": { config } } } });
}

/** Copies key and database. Returns a function that restores them. */
async function keepCopies(): Promise<() => Promise<void>> {
  const both = [files.key, files.database];
  for (const file of both) await copyFile(file, `${file}.kept`);
  return async () => {
    for (const ending of ["-wal", "-shm"]) await rm(files.database + ending, { force: true });
    for (const file of both) await rename(`${file}.kept`, file);
  };
}

/** Keeps the first page, with header and schema. */
async function overwrite(file: string): Promise<void> {
  const bytes = await readFile(file);
  await writeFile(file, bytes.fill(0xa5, 4_096));
}

async function replaceDatabase(sql: string): Promise<void> {
  await rm(files.database);
  await changeDatabase(sql);
}

async function changeDatabase(sql: string): Promise<void> {
  const database = new DatabaseSync(files.database);
  database.exec(sql);
  database.close();
}
