/** Several processes with one database: concurrent first uses, one that holds it open, and one that is killed. */
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { CommandHome, finish } from "./command.ts";

const home = CommandHome.forEachTest();

describe("several processes", () => {
  test("that create key and database at the same time share one of each, and lose nothing", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const stored = await Promise.all(names.map((name) => home.run(["store", name, name.repeat(5)])));
    for (const { code, stderr } of stored) expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const name of names) {
      expect(await home.run(["get", name])).toMatchObject({ code: 0, stdout: `${name.repeat(5)}\n` });
    }
  });

  test("find what another one stored, while a third reads", async () => {
    await home.run(["store", "first", "before the third came"]);
    const third = new DatabaseSync(home.databasePath);
    try {
      third.exec("BEGIN; SELECT count(*) FROM sqlite_master");
      third.prepare("SELECT count(*) FROM sqlite_master").get();
      expect(await home.run(["store", "second", "the heron stands at the lake"])).toMatchObject({
        code: 0,
        stderr: "",
      });
      const found = await home.run(["search", "heron", "--json"]);
      expect(JSON.parse(found.stdout)).toMatchObject({ results: [{ key: "second" }] });
      // The reader delays the overwriting of old bytes, and forget reports this.
      const forgotten = await home.run(["forget", "key:second", "--yes"]);
      expect(forgotten).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Deleted the fact /) });
      expect(forgotten.stderr).toMatch(
        /gone from every answer\. The database overwrites their old, encrypted bytes a little later/,
      );
      expect(await home.run(["get", "second"])).toMatchObject({ code: 1 });
    } finally {
      third.close();
    }
  });

  test("survive a killed import: everything that it reported as stored is there", async () => {
    await home.run(["store", "before", "kept"]);
    const child = home.start(["import", "-"]);
    const ended = finish(child);
    child.stdin.on("error", () => {}); // It is killed while it reads.
    for (let line = 0; line < 3_000; line += 1) {
      child.stdin.write(`${JSON.stringify({ key: `k/${line}`, value: `v ${line}` })}\n`);
    }
    await sawImported();
    child.kill("SIGKILL");
    expect(await ended).toMatchObject({ signal: "SIGKILL" });
    expect(await home.run(["get", "before"])).toMatchObject({ code: 0, stdout: "kept\n" });
    expect(await home.run(["get", "k/0"])).toMatchObject({ code: 0, stdout: "v 0\n" });
    expect(await home.run(["doctor"])).toMatchObject({ code: 0 });
  });
});

/** Resolves when the running import has committed its first entries. */
function sawImported(): Promise<void> {
  return expect
    .poll(
      () => {
        const database = new DatabaseSync(home.databasePath, { readOnly: true });
        const rows = database.prepare("SELECT count(*) AS n FROM entries").get();
        database.close();
        return rows?.n;
      },
      { interval: 5 },
    )
    .toBeGreaterThan(1);
}
