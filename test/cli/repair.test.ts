/** `verify` and `repair` on a database in which a row was edited. */
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { CommandHome } from "./command.ts";

const home = CommandHome.forEachTest();

async function edit(sql: string): Promise<void> {
  const connection = await betterSqliteDriver.open(home.databasePath, "write");
  connection.exec(sql);
  connection.close();
}

// verifies P-durable-damage
test("names unreadable rows, and writes the others into a database that replaces the old one", async () => {
  await home.run(["store", "editor", "vim"]);
  await home.run(["store", "shell", "zsh"]);
  expect(await home.run(["verify"])).toMatchObject({ code: 0, stdout: expect.stringContaining("2 entries") });

  await edit("UPDATE entries SET expires_at = expires_at + 1 WHERE key = 'shell'");
  const seen = await home.run(["verify"]);
  expect(seen).toMatchObject({ code: 1, stdout: expect.stringContaining("claims to be shell of main") });
  expect(seen.stdout).not.toContain("zsh");
  expect(JSON.parse((await home.run(["verify", "--json"])).stdout)).toMatchObject({
    entries: 1,
    unreadable: 1,
    rows: [{ table: "entries", key: "shell", namespace: "main" }],
  });

  const repaired = await home.run(["repair"]);
  expect(repaired).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("To use it: stop every process"),
  });
  expect(await home.run(["repair"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("already exists"),
  });
  for (const ending of ["", "-wal", "-shm", "-reserve.tmp"])
    await rm(`${home.databasePath}${ending}`, { force: true });
  await rename(join(dirname(home.databasePath), "memory-repaired.sqlite"), home.databasePath);
  expect(await home.run(["get", "editor"])).toMatchObject({ code: 0, stdout: "vim\n" });
  expect(await home.run(["verify"])).toMatchObject({ code: 0 });
});
