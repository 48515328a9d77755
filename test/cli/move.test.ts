/** `move` from a shell. */
import { existsSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import { InProcessHome } from "./in-process.ts";

const home = InProcessHome.forEachTest();
beforeEach(async () => {
  await home.run(["store", "deploy/konflux", "We deploy through Konflux"]);
});

test("works to another file and back, names the next steps, and locks the old place", async () => {
  const other = home.path("other.sqlite");
  const dry = await home.run(["move", "--to", other, "--dry-run"]);
  expect(dry.stdout).toBe(
    `Would move 1 entry, 0 former values and 0 vectors from ${home.databasePath} to ${other}.\n`,
  );
  expect(existsSync(other)).toBe(false);

  const there = await home.run(["move", "--to", other]);
  expect(there).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Moved 1 entry.* and compared\.\n$/),
  });
  expect(there.stderr).toContain("no program opens it");
  expect(await home.run(["get", "deploy/konflux", "--db", other])).toMatchObject({ code: 0 });
  const left = await home.run(["store", "k", "v", "--json"]);
  expect(JSON.parse(left.stderr)).toMatchObject({
    error: "store_moved",
    message: expect.stringMatching(/was moved to .*other\.sqlite on .* --from.* --reopen\.$/),
  });

  const back = await home.run(["move", "--from", other, "--json"]);
  expect(JSON.parse(back.stdout)).toMatchObject({
    from: other,
    to: home.databasePath,
    rows: { entries: 1, history: 0, vectors: 0, reference_vectors: 0 },
    ...{ resumes: false, copied: 0, kept: 1, removed: 0 },
  });
  expect(await home.run(["get", "deploy/konflux"])).toMatchObject({ code: 0 });

  const reopened = await home.run(["move", "--reopen", "--from", other]);
  expect(reopened.stdout).toMatch(/other\.sqlite is in use again, as it was/);
});

test.each([
  [["move"], 2, /Move needs --to or --from/],
  [["move", "--reopen", "--to", "x"], 2, /--reopen takes neither/],
  [["move", "--prepare"], 2, /--prepare takes --to and --engine-role/],
  [
    ["move", "--prepare", "--to", "x.sqlite"],
    1,
    /--to must be a postgres:\/\/ address; a file needs no preparation/,
  ],
  [["move", "--to", "postgres://me:hunter2@db/memory"], 1, /must not hold a password on the command line/],
  [["move", "--to", "postgres://db.example/memory?sslmode=prefer"], 1, /does not verify the server/],
  [["move", "--to", "x", "--store", "postgres://me:hunter2@db/memory"], 1, /must not hold a password on the/],
  [
    ["move", "--to", "mysql://db/memory"],
    1,
    /--to must be a postgres:\/\/ address, or the path of a database/,
  ],
  [["move", "--from", "nowhere.sqlite"], 1, /There is no memory to move/],
  [["move", "--reopen"], 1, /was not moved away/],
])("%j is refused, and says why", async (args, code, message) => {
  const said = await home.run(args);
  expect([said.code, said.stdout]).toEqual([code, ""]);
  expect(said.stderr).toMatch(message);
  expect(said.stderr).not.toContain("hunter2");
});

test("is refused to the memory's current place", async () => {
  expect((await home.run(["move", "--to", home.databasePath])).stderr).toContain(
    "--to is where the memory already is",
  );
});
