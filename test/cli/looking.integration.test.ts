/** Read-only commands change nothing, in separate processes: with an open database, next to a server, and with file modes. */
import { chmodSync, copyFileSync, existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { whyNotUnprivileged } from "../run/unprivileged.ts";
import { CommandHome, finish } from "./command.ts";
import { expectUntouched, LEFT, OPEN, putInto, stateOf, write } from "./foreign-databases.ts";

const home = CommandHome.forEachTest();

// verifies P-look-changes-nothing
describe.each(Object.entries(OPEN))("another program's database %s", (_, make) => {
  test("is unchanged by every command, and no key is created for it", async () => {
    await home.write("facts.jsonl", '{"key":"k","value":"v"}\n');
    await expectUntouched(make, home.path("theirs"), (args) => home.run(args));
    expect(existsSync(home.keyPath)).toBe(false);
  });
});

describe.each(Object.entries({ ...OPEN, ...LEFT }))("another program's database %s", (_, make) => {
  test("is unchanged by a server that runs without memory", async () => {
    const folder = home.path("theirs");
    const { path, before } = putInto(folder, make);
    const server = home.start(["serve", "--port", "0", "--db", path], {
      env: { HELMDECK_MEMORY_KEY: "ab".repeat(32) },
    });
    const ended = finish(server);
    await new Promise((resolve) => server.stdout.once("data", resolve));
    server.kill("SIGTERM");
    expect((await ended).stderr).toContain("store_not_ours");
    expect(stateOf(folder)).toEqual(before);
  });
});

// verifies P-look-changes-nothing
describe("a read-only database", () => {
  beforeEach(async (context) => {
    context.skip(whyNotUnprivileged !== undefined, whyNotUnprivileged);
    await home.run(["store", "deploy/konflux", "We deploy through Konflux"]);
  });

  /** Leaves facts only in the log, like a process that is still running or was killed. */
  function leaveLog(...endings: readonly string[]): void {
    const live = join(home.folder, "live.sqlite");
    copyFileSync(home.databasePath, live);
    write(live, "PRAGMA wal_autocheckpoint = 0", "UPDATE store SET prunes = prunes");
    for (const ending of ["", ...endings]) copyFileSync(`${live}${ending}`, `${home.databasePath}${ending}`);
  }

  const left: Readonly<Record<string, readonly string[]>> = {
    "closed in order": [],
    "with a log and its index": ["-wal", "-shm"],
    "with a log without its index": ["-wal"],
  };

  test.each(Object.entries(left))(
    "%s works for every command that only reads, and refuses the others",
    async (_, endings) => {
      if (endings.length > 0) leaveLog(...endings);
      home.handToUnprivileged();
      const folder = dirname(home.databasePath);
      for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o400);
      chmodSync(folder, 0o500);
      const before = stateOf(folder);
      const answers = [
        [["get", "deploy/konflux"], "Konflux"],
        [["list"], "deploy/konflux"],
        [["search", "konflux"], "Konflux"],
        [["export"], '"value":"We deploy through Konflux"'],
        [["doctor"], "cannot be written. Memory can be read"],
      ] as const;
      for (const [command, expected] of answers) {
        const { code, stdout, stderr } = await home.run(command);
        expect([command[0], code, stderr]).toEqual([command[0], 0, expect.not.stringContaining("store_")]);
        expect(stdout).toContain(expected);
      }
      for (const command of [
        ["store", "k", "v"],
        ["forget", "key:deploy/konflux", "--yes"],
      ]) {
        const { code, stderr } = await home.run(command);
        expect([code, stderr]).toEqual([1, expect.stringMatching(/^store_readonly: /)]);
      }
      const { "memory.sqlite-shm": __, ...after } = stateOf(folder);
      const { "memory.sqlite-shm": ___, ...same } = before;
      expect(after).toEqual(same);
      chmodSync(folder, 0o700);
    },
  );
});
