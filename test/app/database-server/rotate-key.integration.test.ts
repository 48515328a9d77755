/** Changing the key of a memory on PostgreSQL: with interruptions, with running engines, and for every location of the key. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { postgresServer } from "../../../app/database-server/postgres-server.ts";
import { confirmKeySaved } from "../../../app/keys/confirm-key-saved.ts";
import { finishRotation, planRotation, rotateKey } from "../../../app/keys/rotate-key.ts";
import { examineMemory, openMemory } from "../../../app/open-memory.ts";
import type { OpenMemoryOptions } from "../../../app/open-memory-options.ts";
import { readKeyFile } from "../../../engine/store/key-file.ts";
import { keyIdOf } from "../../../engine/store/key-ring.ts";
import { openPostgresStore } from "../../../engine/store/postgres/open-postgres.ts";
import { betterSqliteDriver } from "../../../engine/store/sqlite/better-sqlite-driver.ts";
import { fact } from "../../contract/rig.ts";
import { ENGINE, makeRoles } from "../../engine/store/postgres/postgres-rig.ts";
import { type PostgresServer, startPostgres, whyWithoutPostgres } from "../../postgres/server.ts";
import { bundledScript } from "../../run/bundles.ts";
import { tempFolder } from "../fixtures/memories.ts";

/** Enough for more than two slices. */
const FACTS = 450;
const CHILD = fileURLToPath(new URL("../children/rotate-until.ts", import.meta.url));

const missing = whyWithoutPostgres();
let server: PostgresServer;
let [url, keyPath, former] = ["", "", ""];
let databases = 0;

beforeAll(async () => {
  if (missing !== undefined) return;
  server = await startPostgres();
  await makeRoles(server);
});
afterAll(() => server?.dispose());
beforeEach(async () => {
  if (missing !== undefined) return;
  databases += 1;
  const database = `keys_${databases}`;
  await server.query(`CREATE DATABASE ${database} OWNER ${ENGINE}`);
  url = server.url({ user: ENGINE, database });
  keyPath = join(await tempFolder(), "memory.key");
  await writeFile(keyPath, "5a".repeat(32), { mode: 0o600 });
  const key = await readKeyFile(keyPath);
  former = keyIdOf(key);
  const store = await openPostgresStore({ connection: { connectionString: url }, key });
  await store.putMany(Array.from({ length: FACTS }, (_, i) => fact(`k${i}`, `value ${i}`)));
  await store.put(fact("k0", "another")); // creates a former value
  await store.close();
});

async function options(more: Partial<OpenMemoryOptions> = {}): Promise<OpenMemoryOptions> {
  const address = { env: {}, homeDir: "", from: "argument" as const };
  return {
    ...{ databasePath: "", keyPath, env: {}, driver: betterSqliteDriver, sweepEveryMs: 0 },
    server: await postgresServer(url, address),
    ...more,
  };
}

const idInPlace = async () => keyIdOf(await readKeyFile(keyPath));

async function expectReadable(more: Partial<OpenMemoryOptions> = {}): Promise<void> {
  const memory = await openMemory(await options(more));
  expect((await memory.doctor()).store).toMatchObject({ entries: FACTS, unreadable: 0 });
  await memory.close();
}

async function rotateUntil(step: string): Promise<string | null> {
  const script = await bundledScript(CHILD);
  const child = spawn(process.execPath, [script, "", keyPath, step, url], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [, signal] = await once(child, "close");
  return signal;
}

describe.skipIf(missing !== undefined)("the key of a memory on a server", () => {
  // verifies P-key-change
  test.each(["key made", "begun", "sealing", "sealed anew", "former key kept", "new key placed", "finished"])(
    "killed after the step “%s”, either key opens everything, and the next run finishes the change",
    async (step) => {
      expect(await rotateUntil(step)).toBe("SIGKILL");
      await expectReadable();
      expect(await rotateUntil("never")).toBeNull();
      await expectReadable();
      expect(await idInPlace()).not.toBe(former);
      const before = { keyPath: `${keyPath}.former-${former}` };
      await expect(openMemory(await options(before))).rejects.toMatchObject({ code: "key_wrong" });
    },
  );

  // verifies P-key-change
  test("is exchanged while an engine reads and writes, which continues with the new one", async () => {
    const engine = await openMemory(await options());
    const change = await options();
    const writing = (async () => {
      for (let i = 0; i < 20; i += 1) await engine.storeFact("ana", { key: `w${i}`, value: `${i}` });
    })();
    const rotation = await rotateKey(change);
    await writing;
    expect(rotation).toMatchObject({ from: former, to: await idInPlace(), state: "finished", unreadable: 0 });
    await engine.storeFact("ana", { key: "after", value: "1" });
    expect((await engine.getFact("ana", { key: "w0" }))?.value).toBe("0");
    await engine.close();
    const memory = await openMemory(await options());
    expect((await memory.doctor()).store).toMatchObject({ entries: FACTS + 21, unreadable: 0 });
    await memory.close();
  });

  // verifies P-key-change
  test("is reloaded by an engine that was idle during the change, and none of its calls fails", async () => {
    const engine = await openMemory(await options());
    await rotateKey(await options());
    const calls = Array.from({ length: 30 }, (_, i) => [
      engine.storeFact("ana", { key: `w${i}`, value: `${i}` }),
      engine.getFact("ana", { key: "k1" }),
    ]);
    await Promise.all(calls.flat());
    expect((await engine.getFact("ana", { key: "w0" }))?.value).toBe("0");
    expect((await engine.doctor()).store).toMatchObject({ entries: FACTS + 30, unreadable: 0 });
    await engine.close();
  });

  // verifies P-key-change
  test("is refused by an engine that has only the former key, until the new one is installed", async () => {
    let now = 0;
    const away = await openMemory(await options({ clock: () => now }));
    const [newKeyPath, kept] = [`${keyPath}.other`, `${keyPath}.kept`];
    await rotateKey({ ...(await options()), newKeyPath });
    await finishRotation(await options({ keyPath: newKeyPath }));
    for (let tried = 0; tried < 3; tried += 1) {
      await expect(away.getFact("ana", { key: "k0" })).rejects.toMatchObject({ code: "key_wrong" });
      now += 60_000;
    }
    await rename(keyPath, kept);
    await rename(newKeyPath, keyPath);
    await away.storeFact("ana", { key: "back", value: "again" });
    expect((await away.getFact("ana", { key: "k1" }))?.value).toBe("value 1");
    await away.close();
  });

  test("that comes from the environment is changed in two steps; both keys work in between", async () => {
    const before = { env: { HELMDECK_MEMORY_KEY: "5a".repeat(32) } };
    await expect(rotateKey(await options(before))).rejects.toMatchObject({ code: "invalid_input" });
    const newKeyPath = `${keyPath}.other`;
    const plan = await planRotation({ ...(await options(before)), newKeyPath });
    expect(plan).toMatchObject({ from: former, entries: FACTS, keyPath: newKeyPath });
    await rotateKey({ ...(await options(before)), newKeyPath });
    const after = { env: { HELMDECK_MEMORY_KEY: (await readFile(newKeyPath, "utf8")).trim() } };
    for (const more of [before, after]) await expectReadable(more);
    await finishRotation(await options(after));
    await expectReadable(after);
    await expect(openMemory(await options(before))).rejects.toMatchObject({ code: "key_wrong" });
  });

  test("is not re-created when it is missing, and a copy of it can be confirmed", async () => {
    const told = async () => (await examineMemory(await options())).findings;
    expect(await told()).not.toContainEqual(
      expect.objectContaining({ message: expect.stringContaining("You confirmed") }),
    );
    const copy = { text: (await readFile(keyPath, "utf8")).trim() };
    await confirmKeySaved(await options(), copy);
    expect(await told()).toContainEqual(
      expect.objectContaining({ check: "key", message: expect.stringContaining("You confirmed") }),
    );
    await rm(keyPath);
    await expect(rotateKey(await options())).rejects.toMatchObject({ code: "key_missing" });
    await expect(confirmKeySaved(await options(), copy)).rejects.toMatchObject({ code: "key_missing" });
  });
});
