/** The command keeps memory in the same place as the plugin, unless an option or a variable says otherwise. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { InProcessHome } from "./in-process.ts";

const home = InProcessHome.forEachTest();

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe("by default", () => {
  test("memory is in OpenClaw's state folder, the key beside the database's folder, both private", async () => {
    expect(await home.run(["store", "k", "v"])).toMatchObject({ code: 0 });
    expect(modeOf(home.databasePath)).toBe(0o600);
    expect(modeOf(home.keyPath)).toBe(0o600);
  });

  test("a search that finds no memory yet says so, and is no failure", async () => {
    expect(await home.run(["search", "anything"])).toMatchObject({ code: 0, stdout: "" });
  });
});

describe("with environment variables", () => {
  test("memory is in the state folder of OPENCLAW_STATE_DIR", async () => {
    const env = { OPENCLAW_STATE_DIR: home.path("elsewhere") };
    await home.run(["store", "k", "v"], { env });
    expect(existsSync(home.path("elsewhere/helmdeck-memory/memory.sqlite"))).toBe(true);
    expect(existsSync(home.path("elsewhere/helmdeck-memory.key"))).toBe(true);
    expect(existsSync(home.stateFolder)).toBe(false);
    expect(await home.run(["get", "k"], { env })).toMatchObject({ code: 0, stdout: "v\n" });
    expect(await home.run(["get", "k"])).toMatchObject({ code: 1 });
  });

  test("a key in HELMDECK_MEMORY_KEY is used, and no key file is created", async () => {
    const env = { HELMDECK_MEMORY_KEY: "0f".repeat(32) };
    await home.run(["store", "k", "v"], { env });
    expect(existsSync(home.keyPath)).toBe(false);
    expect(await home.run(["get", "k"], { env })).toMatchObject({ code: 0, stdout: "v\n" });
    expect(await home.run(["get", "k"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^key_missing: /),
    });
  });
});

describe("with --db", () => {
  test("it is that file, relative to where the command runs, and not the plugin's", async () => {
    await home.run(["store", "k", "v", "--db", "other.sqlite"]);
    expect(modeOf(home.path("other.sqlite"))).toBe(0o600);
    expect(existsSync(home.databasePath)).toBe(false);
    const file = join(home.folder, "other.sqlite");
    expect(await home.run(["get", "k", "--db", file], { cwd: "/" })).toMatchObject({
      code: 0,
      stdout: "v\n",
    });
    expect(await home.run(["get", "k"])).toMatchObject({ code: 1 });
  });

  test("before the command's name it counts too", async () => {
    await home.run(["--db", "other.sqlite", "--caller", "work", "store", "k", "v"]);
    expect(await home.run(["get", "k", "--caller", "work", "--db", "other.sqlite"])).toMatchObject({
      code: 0,
    });
  });
});
