/** `doctor --compact` on a database whose freed pages are still in the file, as in databases that 0.1 made. */
import { stat } from "node:fs/promises";
import { expect, test } from "vitest";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { CommandHome } from "./command.ts";

const LARGE = "x ".repeat(3_500);

const home = CommandHome.forEachTest();

const size = async () => (await stat(home.databasePath)).size;

// verifies P-forget-full-disk
test("gives back the space of what was forgotten, once, and keeps the rest", async () => {
  const facts = Array.from({ length: 700 }, (_, i) => ({
    key: `large/${i}`,
    value: `${i} ${LARGE}`,
    category: "large",
  }));
  const lines = [{ key: "editor", value: "vim" }, ...facts].map((fact) => JSON.stringify(fact)).join("\n");
  expect(await home.run(["import", "-"], { input: lines })).toMatchObject({ code: 0 });
  const connection = await betterSqliteDriver.open(home.databasePath, "write");
  connection.exec("PRAGMA auto_vacuum = NONE; VACUUM");
  connection.close();
  expect(await home.run(["forget", "category:large", "--yes"])).toMatchObject({ code: 0 });
  const before = await size();

  const compacted = await home.run(["doctor", "--compact"]);
  expect(compacted).toMatchObject({ code: 0, stderr: expect.stringContaining("was rewritten") });
  expect(await size()).toBeLessThan(before / 2);
  expect(await home.run(["doctor", "--compact"])).toMatchObject({
    stderr: expect.stringContaining("nothing to compact"),
  });
  expect(await home.run(["get", "editor"])).toMatchObject({ code: 0, stdout: "vim\n" });
});
