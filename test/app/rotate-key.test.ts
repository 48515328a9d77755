/** Changing the key, for every location of the key: at every moment, the key in place opens all rows. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { finishRotation, placeNewKey, planRotation, rotateKey } from "../../app/keys/rotate-key.ts";
import { examineMemory, openMemory } from "../../app/open-memory.ts";
import type { StorageLocation } from "../../app/storage-location.ts";
import { makeKeyFile, readKeyFile } from "../../engine/store/key-file.ts";
import { keyIdOf } from "../../engine/store/key-ring.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import type { SqliteDriver } from "../../engine/store/sqlite/sqlite-driver.ts";
import { readStoreFacts } from "../../engine/store/sqlite/store-facts.ts";
import { bundledScript } from "../run/bundles.ts";
import { entryOf, openTestMemory, tempFolder, tempPlace } from "./fixtures/memories.ts";

const FEW = 20;
/** Enough for more than one slice. */
const MANY = 700;
const driver = betterSqliteDriver;
const options = (place: StorageLocation, env = {}) => ({ ...place, env, driver });

async function madePlace(facts = 3): Promise<StorageLocation> {
  const place = await tempPlace();
  const memory = await openTestMemory(place);
  await memory.store.putMany(Array.from({ length: facts }, (_, i) => entryOf(`k${i}`, `value ${i}`)));
  await memory.close();
  return place;
}

async function expectReadable(place: StorageLocation, facts: number, env = {}): Promise<void> {
  const memory = await openMemory({ ...options(place, env), sweepEveryMs: 0 });
  expect((await memory.getFact("main", { key: "k0" }))?.value).toBe("value 0");
  expect((await memory.doctor()).store).toMatchObject({ entries: facts, unreadable: 0, integrity: "ok" });
  await memory.close();
}

const idIn = async (path: string) => keyIdOf(await readKeyFile(path));

async function filesBeside({ keyPath }: StorageLocation): Promise<readonly string[]> {
  const names = await readdir(dirname(keyPath));
  return names.filter((name) => name.startsWith("helmdeck-memory.key") && !name.endsWith(".json")).sort();
}

// verifies P-key-change
describe("the key in a file", () => {
  test("is exchanged for a new one, and only that one opens the database afterwards", async () => {
    const place = await madePlace();
    const former = await idIn(place.keyPath);
    const rotation = await rotateKey(options(place));
    const current = await idIn(place.keyPath);
    expect(rotation).toMatchObject({ from: former, to: current, state: "finished", unreadable: 0 });
    expect(current).not.toBe(former);
    const formerPath = `${place.keyPath}.former-${former}`;
    expect(await filesBeside(place)).toEqual(["helmdeck-memory.key", `helmdeck-memory.key.former-${former}`]);
    expect(await idIn(formerPath)).toBe(former);
    expect((await stat(place.keyPath)).mode & 0o777).toBe(0o600);
    await expectReadable(place, 3);
    await expect(openMemory({ ...options(place), keyPath: formerPath })).rejects.toMatchObject({
      code: "key_wrong",
    });
  });

  test.each(["key made", "begun", "sealing", "sealed anew", "former key kept", "new key placed", "finished"])(
    "killed after the step “%s”, either key opens everything, and the next run finishes the change",
    async (step) => {
      const facts = step === "sealing" ? MANY : FEW;
      const place = await madePlace(facts);
      const former = await idIn(place.keyPath);
      expect(await rotateUntil(place, step)).toBe("SIGKILL");
      await expectReadable(place, facts);
      const { keys } = await readStoreFacts({
        path: place.databasePath,
        driver,
        key: await readKeyFile(place.keyPath),
      });
      const isBetween = step !== "key made" && step !== "finished";
      expect(keys?.former).toBe(isBetween ? former : undefined);

      await rotateKey(options(place));
      await expectReadable(place, facts);
      const left = await filesBeside(place);
      expect(left).toContain(`helmdeck-memory.key.former-${former}`);
      expect(left).not.toContain("helmdeck-memory.key.new");
      await expect(
        openMemory({ ...options(place), keyPath: `${place.keyPath}.former-${former}` }),
      ).rejects.toMatchObject({ code: "key_wrong" });
    },
  );

  test("that is reached through a link is replaced at the link's target", async () => {
    const place = await madePlace();
    const link = join(await tempFolder(), "link.key");
    await symlink(place.keyPath, link);
    await rotateKey({ ...options(place), keyPath: link });
    expect(await idIn(link)).toBe(await idIn(place.keyPath));
    await expectReadable({ ...place, keyPath: link }, 3);
  });

  test("that HELMDECK_MEMORY_KEY_FILE names is replaced there", async () => {
    const place = await tempPlace();
    const keyPath = join(await tempFolder(), "named.key");
    await writeFile(keyPath, "5a".repeat(32), { mode: 0o600 });
    const env = { HELMDECK_MEMORY_KEY_FILE: keyPath };
    const memory = await openTestMemory({ ...place, env });
    await memory.storeFact("main", { key: "k0", value: "value 0" });
    await memory.close();
    await rotateKey(options(place, env));
    expect(await readFile(keyPath, "utf8")).not.toContain("5a5a");
    await expectReadable(place, 1, env);
  });

  test("is not changed when the new key of an interrupted change is missing, and the message names that key", async () => {
    const place = await madePlace(FEW);
    await rotateUntil(place, "begun");
    const current = await idIn(`${place.keyPath}.new`);
    await rm(`${place.keyPath}.new`);
    await expect(rotateKey(options(place))).rejects.toMatchObject({
      code: "key_missing",
      message: expect.stringContaining(current),
    });
    await expectReadable(place, FEW);
  });

  test("a dry run describes the steps, and creates nothing", async () => {
    const place = await madePlace();
    const from = await idIn(place.keyPath);
    expect(await planRotation(options(place))).toMatchObject({
      from,
      entries: 3,
      keyPath: place.keyPath,
      formerKeyPath: `${place.keyPath}.former-${from}`,
    });
    expect(await filesBeside(place)).toEqual(["helmdeck-memory.key"]);
  });

  test("of a memory that was never used is not changed", async () => {
    const place = await tempPlace();
    await expect(rotateKey(options(place))).rejects.toMatchObject({ code: "store_unavailable" });
    expect(await filesBeside(place)).toEqual([]);
  });
});

// verifies P-key-change
describe("a key from the environment", () => {
  const FORMER = { HELMDECK_MEMORY_KEY: "ab".repeat(32) };

  async function begun() {
    const place = await tempPlace();
    const memory = await openTestMemory({ ...place, env: FORMER });
    await memory.storeFact("main", { key: "k0", value: "value 0" });
    await memory.close();
    const newKeyPath = join(await tempFolder(), "new.key");
    const rotation = await rotateKey({ ...options(place, FORMER), newKeyPath });
    const current = { HELMDECK_MEMORY_KEY: (await readFile(newKeyPath, "utf8")).trim() };
    return { place, rotation, current, newKeyPath };
  }

  test("cannot be replaced: the message asks for a file with the new key", async () => {
    const place = await tempPlace();
    const memory = await openTestMemory({ ...place, env: FORMER });
    await memory.storeFact("main", { key: "k0", value: "value 0" });
    await expect(rotateKey(options(place, FORMER))).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("--new-key-file"),
    });
  });

  test("opens everything, like the new key, until that is in place and the change is finished", async () => {
    const { place, rotation, current } = await begun();
    expect(rotation).toMatchObject({ state: "both_open" });
    for (const env of [FORMER, current]) await expectReadable(place, 1, env);
    await expect(finishRotation(options(place, FORMER))).rejects.toMatchObject({
      code: "key_wrong",
      message: expect.stringContaining("still the former one"),
    });
    await expectReadable(place, 1, FORMER);
    expect(await finishRotation(options(place, current))).toMatchObject({
      state: "finished",
      ...ids(rotation),
    });
    await expectReadable(place, 1, current);
    await expect(openMemory(options(place, FORMER))).rejects.toMatchObject({ code: "key_wrong" });
  });

  test("cannot be dropped when no change has begun", async () => {
    const { place, current } = await begun();
    await finishRotation(options(place, current));
    await expect(finishRotation(options(place, current))).rejects.toMatchObject({ code: "invalid_input" });
    await expectReadable(place, 1, current);
  });

  test("doctor names both keys, and the unfinished change", async () => {
    const { place, rotation, current } = await begun();
    const told = async () =>
      (await examineMemory(options(place, current))).findings.filter(({ check }) => check === "key");
    expect(await told()).toContainEqual(
      expect.objectContaining({
        level: "warning",
        message: expect.stringMatching(
          new RegExp(`from ${rotation.from} to ${rotation.to}. The change is not`),
        ),
      }),
    );
    await finishRotation(options(place, current));
    expect(await told()).toContainEqual(
      expect.objectContaining({ level: "ok", message: `The key in use is ${rotation.to}.` }),
    );
  });

  function ids({ from, to }: { readonly from: string; readonly to: string }) {
    return { from, to };
  }
});

test("a host that runs no commands refuses a key command, and creates no key file instead", async () => {
  const place = await tempPlace();
  const env = { HELMDECK_MEMORY_KEY_COMMAND: '["cat", "/run/key"]' };
  await expect(openMemory(options(place, env))).rejects.toMatchObject({
    code: "key_unreadable",
    message: expect.stringContaining("SecretRef"),
  });
  expect(await filesBeside(place)).toEqual([]);
});

test("doctor names a former key that was not destroyed", async () => {
  const place = await madePlace();
  const { from } = await rotateKey(options(place));
  const { findings } = await examineMemory(options(place));
  expect(findings).toContainEqual(
    expect.objectContaining({ level: "warning", message: expect.stringContaining(`.former-${from}`) }),
  );
});

test("a process that reads the former key just before the exchange opens with the new one", async () => {
  const place = await madePlace();
  let isRotated = false;
  const late: SqliteDriver = {
    ...driver,
    open: async (path, mode) => {
      if (!isRotated) {
        isRotated = true;
        await rotateKey(options(place));
      }
      return driver.open(path, mode);
    },
  };
  const memory = await openMemory({ ...options(place), driver: late, sweepEveryMs: 0 });
  expect((await memory.getFact("main", { key: "k0" }))?.value).toBe("value 0");
  await memory.close();
  expect(isRotated).toBe(true);
});

async function rotateUntil({ databasePath, keyPath }: StorageLocation, step: string): Promise<string | null> {
  const script = await bundledScript(fileURLToPath(new URL("./children/rotate-until.ts", import.meta.url)));
  const child = spawn(process.execPath, [script, databasePath, keyPath, step], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [, signal] = await once(child, "close");
  return signal;
}

// verifies P-key-change
describe("concurrent changes", () => {
  test("lose no key: whatever each of three reports, the key in place opens everything", async () => {
    const place = await madePlace(20);
    for (let round = 0; round < 3; round += 1) {
      await Promise.allSettled([1, 2, 3].map(() => rotateKey(options(place))));
      await rotateKey(options(place));
      await expectReadable(place, 20);
    }
  });

  test("tell the one that comes too late that another one changed the key", async () => {
    const place = await madePlace(20);
    const both = await Promise.allSettled([1, 2].map(() => rotateKey(options(place))));
    expect(both.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const late = both.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    const message = expect.stringMatching(/^Another process (is changing|has changed) the key/);
    expect(late).toMatchObject([{ code: "store_locked", message }]);
    expect(late[0].message).toContain(await idIn(place.keyPath));
    expect(await filesBeside(place)).toHaveLength(2);
  });

  test("that are late do not install the next change's key", async () => {
    const keyPath = join(await tempFolder(), "memory.key");
    const files = { keyPath, newPath: `${keyPath}.new`, formerPath: `${keyPath}.former` };
    await makeKeyFile(keyPath);
    const current = keyIdOf((await makeKeyFile(files.newPath)).key);
    const late = placeNewKey(files, { former: "", current }, async (exchange) => {
      await rename(files.newPath, keyPath); // another process moved the new key, and a third one created the next
      await makeKeyFile(files.newPath);
      exchange();
    });
    await expect(late).rejects.toMatchObject({ code: "key_wrong" });
    expect(await idIn(keyPath)).toBe(current);
  });
});
