/** `rotate-key`, also while a server has the database open. */
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { finish } from "./command.ts";
import { InProcessHome } from "./in-process.ts";

let home: InProcessHome;
beforeEach(() => {
  home = new InProcessHome();
});
afterEach(() => home.remove());

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
