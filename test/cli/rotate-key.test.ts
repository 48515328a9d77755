/** `rotate-key`, also while a server has the database open. */
import { once } from "node:events";
import { chmod, copyFile, link, readdir, readFile, symlink } from "node:fs/promises";
import { createInterface } from "node:readline";
import { describe, expect, test } from "vitest";
import { finish } from "./command.ts";
import { InProcessHome } from "./in-process.ts";

const home = InProcessHome.forEachTest();

const KEY = "ab".repeat(32);

describe("rotate-key", () => {
  test("shows its plan, reports progress, and names the next steps", async () => {
    await home.run(["store", "editor", "vim"]);
    const before = await readFile(home.keyPath, "utf8");
    const plan = await home.run(["rotate-key", "--dry-run", "--json"]);
    expect(JSON.parse(plan.stdout)).toMatchObject({ dry_run: true, entries: 1, key_path: home.keyPath });
    expect(await readFile(home.keyPath, "utf8")).toBe(before);

    const { code, stdout, stderr } = await home.run(["rotate-key"]);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^The key is now [0-9a-f]{16};/),
    });
    expect(stderr).toContain("Encrypted with the new key: 1 of 1 entries.");
    expect(stderr).toMatch(/then destroy the former key, \S+\.former-[0-9a-f]{16}/);
    const after = await readFile(home.keyPath, "utf8");
    expect(after).not.toBe(before);
    for (const key of [before, after]) expect(stdout + stderr).not.toContain(key.trim());
    expect(await home.run(["get", "editor"])).toMatchObject({ code: 0, stdout: "vim\n" });
  });

  test("with the key in the environment requires a file, and finally only the new key works", async () => {
    const former = { HELMDECK_MEMORY_KEY: KEY };
    await home.run(["store", "editor", "vim"], { env: former });
    expect(await home.run(["rotate-key"], { env: former })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Give --new-key-file FILE"),
    });
    const begun = await home.run(["rotate-key", "--new-key-file", "new.key", "--json"], { env: former });
    expect(JSON.parse(begun.stdout)).toMatchObject({ state: "both_open", key_path: home.path("new.key") });
    expect(await home.run(["rotate-key", "--finish"], { env: former })).toMatchObject({ code: 1 });
    expect(await home.run(["get", "editor"], { env: former })).toMatchObject({ code: 0 });
    const env = { HELMDECK_MEMORY_KEY: (await readFile(home.path("new.key"), "utf8")).trim() };
    expect(await home.run(["rotate-key", "--finish"], { env })).toMatchObject({ code: 0 });
    expect(await home.run(["get", "editor"], { env })).toMatchObject({ code: 0, stdout: "vim\n" });
    expect(await home.run(["get", "editor"], { env: former })).toMatchObject({ code: 1 });
  });

  test("refuses conflicting options, and does nothing", async () => {
    await home.run(["store", "editor", "vim"]);
    expect(await home.run(["rotate-key", "--finish", "--dry-run"])).toMatchObject({ code: 2 });
    expect(await readdir(home.stateFolder)).not.toContain("helmdeck-memory.key.new");
  });

  // verifies P-key-change
  test("does not stop a running server, which continues under the new key", async () => {
    await home.run(["store", "editor", "vim", "--caller", "unknown"]);
    const server = home.start(["serve", "--port", "0", "--json"]);
    const ended = finish(server);
    const [line] = await once(createInterface(server.stdout), "line");
    const { url } = JSON.parse(line);
    try {
      expect((await store(url, "before")).status).toBe(200);
      for (const again of ["once", "twice"]) {
        expect(await home.run(["rotate-key"])).toMatchObject({ code: 0 });
        await expect.poll(async () => (await store(url, again)).status).toBe(200);
      }
      expect(await (await fetch(`${url}/api/v1/memory/corpus?query=vim`)).text()).toContain("vim");
    } finally {
      server.kill("SIGTERM");
      await ended;
    }
    for (const key of ["before", "once", "twice"]) {
      expect(await home.run(["get", key, "--caller", "unknown"])).toMatchObject({ code: 0 });
    }
    expect(JSON.parse((await home.run(["doctor", "--json"])).stdout).store).toMatchObject({ unreadable: 0 });
  });
});

function store(url: string, key: string): Promise<Response> {
  return fetch(`${url}/api/v1/memory/store`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ key, value: "v" }),
  });
}

describe("key saved", () => {
  const reminds = async () => (await home.run(["doctor"])).stdout.includes("key saved COPY");

  test("compares the copy with the key; doctor reminds until then, and after a change of keys", async () => {
    await home.run(["store", "editor", "vim"]);
    await copyFile(home.keyPath, home.path("copy"));
    await chmod(home.path("copy"), 0o644);
    expect(await reminds()).toBe(true);
    expect(await home.run(["key", "saved", "copy"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Noted: you keep a copy of the key [0-9a-f]{16}\.\n$/),
    });
    expect(await reminds()).toBe(false);
    await home.run(["rotate-key"]);
    expect(await reminds()).toBe(true);
    expect(await home.run(["key", "saved", "copy"])).toMatchObject({ code: 1 });
    const input = await readFile(home.keyPath, "utf8");
    expect(await home.run(["key", "saved", "-"], { input })).toMatchObject({ code: 0 });
    expect(await reminds()).toBe(false);
  });

  // verifies P-key-never-shown
  test.each([
    ["no copy", [], /^invalid_input: Name your copy of the key: key saved FILE/],
    ["an empty name", [""], /^invalid_input: Name your copy of the key/],
    ["another key", ["other"], /^key_wrong: The copy is of the key [0-9a-f]{16}, but the key in use is/],
    ["another key as text", ["-"], /^key_wrong: /],
    ["a missing file", ["missing"], /^key_missing: There is no copy of the key at .*missing/],
    ["a link to a missing file", ["dangling"], /^key_missing: There is no copy of the key at .*dangling/],
    ["the key file itself", [".openclaw/helmdeck-memory.key"], /^invalid_input: .* is the key file itself/],
    ["a symbolic link to it", ["symbolic"], /^invalid_input: .*symbolic is the key file itself/],
    ["a hard link to it", ["hard"], /^invalid_input: .*hard is the key file itself/],
    ["a folder", ["."], /^key_unreadable: .* is not a regular file/],
    ["a cut-off key", ["cut"], /^key_malformed: .* has 63 characters/],
    ["a large file", ["large"], /^key_unreadable: .* this is not a key file/],
  ])("refuses %s, records nothing, and shows no key", async (_, args, message) => {
    await home.run(["store", "editor", "vim"]);
    const key = await readFile(home.keyPath, "utf8");
    await home.write("other", KEY);
    await home.write("cut", key.slice(0, 63));
    await home.write("large", key.repeat(20));
    await symlink("nowhere", home.path("dangling"));
    await symlink(home.keyPath, home.path("symbolic"));
    await link(home.keyPath, home.path("hard"));
    const { code, stdout, stderr } = await home.run(["key", "saved", ...args], { input: KEY });
    expect({ isDone: code === 0, stdout, stderr }).toEqual({
      ...{ isDone: false, stdout: "" },
      stderr: expect.stringMatching(message),
    });
    for (const text of [key.slice(0, 63), KEY]) expect(stderr).not.toContain(text);
    expect(await reminds()).toBe(true);
  });
});
