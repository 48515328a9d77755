/** Commands with `--store` and a real PostgreSQL: the same answers as with a file, and no files on this machine. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ENGINE, makeRoles, OWNER } from "../engine/store/postgres/postgres-rig.ts";
import { type PostgresServer, startPostgres, whyWithoutPostgres } from "../postgres/server.ts";
import { finish } from "./command.ts";
import { InProcessHome } from "./in-process.ts";

const missing = whyWithoutPostgres();
const KEY = "5a".repeat(32);

let server: PostgresServer;
let home: InProcessHome;
let [owners, engines] = ["", ""];
let databases = 0;

beforeAll(async () => {
  if (missing !== undefined) return;
  server = await startPostgres();
  await makeRoles(server);
});
afterAll(() => server?.dispose());
beforeEach(async () => {
  if (missing !== undefined) return;
  home = new InProcessHome();
  await mkdir(home.stateFolder);
  await writeFile(home.keyPath, KEY, { mode: 0o600 });
  databases += 1;
  const database = `commands_${databases}`;
  await server.query(`CREATE DATABASE ${database} OWNER ${OWNER}`);
  owners = server.url({ user: OWNER, database });
  engines = server.url({ user: ENGINE, database });
  await home.run(["move", "--prepare", "--to", owners, "--engine-role", ENGINE]);
});
afterEach(() => home?.remove());

const run = (args: readonly string[], input = "") => home.run([...args, "--store", engines], { input });
const answer = async (args: readonly string[], input = "") => {
  const { code, stdout, stderr } = await run([...args, "--json"], input);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return JSON.parse(stdout);
};

/** Fails when the process is still there long after its work is done. */
async function endOf(child: ReturnType<InProcessHome["start"]>) {
  const late = setTimeout(() => child.kill("SIGKILL"), 20_000);
  return finish(child).finally(() => clearTimeout(late));
}

describe.skipIf(missing !== undefined)(`--store${missing ? ` (left out: ${missing})` : ""}`, () => {
  test("stores, finds, lists, corrects and forgets, and creates no local database", async () => {
    await run(["store", "deploy/konflux", "We deploy through Konflux"]);
    await run(["store", "editor", "vim"]);
    await run(["edit", "editor", "helix"]);
    expect(await run(["get", "editor"])).toMatchObject({ code: 0, stdout: "helix\n" });
    expect((await run(["history", "editor"])).stdout).toContain("vim");
    expect((await run(["search", "deploy through"])).stdout).toContain("deploy/konflux");
    expect((await answer(["list"])).facts).toHaveLength(2);
    expect(await answer(["forget", "editor", "--yes"])).toMatchObject({ deleted: 1, erased: "pending" });
    expect(await run(["get", "editor"])).toMatchObject({ code: 1 });
    expect((await run(["status"])).stdout).toContain("postgres://");
    expect(existsSync(home.databasePath)).toBe(false);
  });

  // verifies P-transfer-whole
  test("exports can be imported, also into another database", async () => {
    const rows = Array.from({ length: 30 }, (_, i) => ({ key: `k/${i}`, value: `v${i}`, tags: ["t"] }));
    await run(["import", "-"], rows.map((row) => JSON.stringify(row)).join("\n"));
    const exported = await run(["export"]);
    expect(exported.stdout.trim().split("\n").length).toBeGreaterThanOrEqual(30);
    expect(await home.run(["import", "-"], { input: exported.stdout })).toMatchObject({ code: 0 });
    const [there, here] = [await run(["list", "--json"]), await home.run(["list", "--json"])];
    const keysIn = ({ stdout }: { stdout: string }) =>
      JSON.parse(stdout)
        .facts.map(({ key }: { key: string }) => key)
        .sort();
    expect(keysIn(here)).toEqual(keysIn(there));
    expect(keysIn(here)).toHaveLength(30);
  });

  // verifies P-durable-damage
  test("verify opens every row, also former values, and names those that do not open", async () => {
    await run(["store", "editor", "vim"]);
    await run(["store", "editor", "helix"]);
    await run(["store", "tea", "oolong"]);
    expect(await answer(["verify"])).toEqual({
      ...{ entries: 2, vectors: 0, history: 1, unreadable: 0, log: "whole", rows: [] },
    });
    const change = (table: string) =>
      `UPDATE helmdeck_memory.${table} SET sealed = set_byte(sealed, 40, 255 - get_byte(sealed, 40))`;
    const database = `commands_${databases}`;
    await server.query(`${change("entries")} WHERE key = 'tea'::bytea`, [], { database });
    await server.query(change("history"), [], { database });
    const { code, stdout } = await run(["verify", "--json"]);
    const { rows, ...counts } = JSON.parse(stdout);
    expect([code, counts]).toEqual([1, { entries: 1, vectors: 0, history: 0, unreadable: 2, log: "whole" }]);
    expect(rows).toMatchObject([
      { table: "entries", key: "tea", namespace: "main" },
      { table: "history", key: "editor" },
    ]);
    expect((await run(["verify"])).stdout).toContain("entry_unreadable: row");
  });

  test("is what mcp serves", async () => {
    const client = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "c", version: "1" },
    };
    const messages = [
      { id: 1, method: "initialize", params: client },
      { method: "notifications/initialized" },
      {
        id: 2,
        method: "tools/call",
        params: { name: "helmdeck__memory_store", arguments: { key: "tea", value: "oolong" } },
      },
    ];
    const input = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
    const served = await run(["mcp"], input);
    expect(served).toMatchObject({ code: 0, stderr: expect.stringContaining("postgres://") });
    expect(await run(["get", "tea"])).toMatchObject({ code: 0, stdout: "oolong\n" });
  });

  test("is used by a dev loop, which creates nothing there", async () => {
    const recall = ["here", "recall", "--phase", "work", "--cwd", home.path("repo")];
    await mkdir(home.path("repo/.harness"), { recursive: true });
    await writeFile(home.path("repo/.harness/project.json"), '{"vault_project": "heron"}');
    expect(await run(recall)).toMatchObject({ code: 0, stdout: "", stderr: expect.stringMatching(/absent/) });
    expect(
      await server.query("SELECT FROM helmdeck_memory.store", [], { database: `commands_${databases}` }),
    ).toEqual([]);
    await run(["store", "projects/heron/decisions/db", "one server", "--category", "decisions"]);
    expect(await run(recall)).toMatchObject({ code: 0, stdout: expect.stringContaining("one server") });
    const { stdout } = await home.run(["complete", "--", "get", "--store", engines, "pro"]);
    expect(stdout).toContain("projects/heron/decisions/db");
  });

  // verifies P-postgres-rights
  test("with the owner's role causes a warning by doctor, and with an engine's role none", async () => {
    await run(["store", "k", "v"]);
    const rights = async (store: string) => {
      const { stdout } = await home.run(["doctor", "--json", "--store", store]);
      return JSON.parse(stdout).findings.filter(({ check }: { check: string }) => check === "rights");
    };
    expect(await rights(engines)).toEqual([]);
    expect(await rights(owners)).toMatchObject([
      { level: "warning", remedy: expect.stringContaining("--engine-role") },
    ]);
  });

  test("a refused password ends every command and a server that is told to stop", async () => {
    await server.query("CREATE ROLE guarded LOGIN PASSWORD 'long-and-secret'");
    await server.admit("local all guarded scram-sha-256");
    const guarded = server.url({ user: "guarded", database: `commands_${databases}` });
    for (const args of [["get", "tea"], ["status"], ["doctor"], ["move", "--from", guarded]]) {
      const named = args[0] === "move" ? args : [...args, "--store", guarded];
      const ended = await endOf(home.start(named));
      expect(ended, args[0]).toMatchObject({ code: 1, signal: null });
      expect(`${ended.stdout}${ended.stderr}`).toContain("refuses this account");
    }
    const engine = home.start(["serve", "--port", "0", "--json", "--store", guarded]);
    await once(createInterface(engine.stdout), "line");
    engine.kill("SIGTERM");
    expect(await endOf(engine)).toMatchObject({ code: 0, signal: null });
  });

  test("a server that stops answering keeps no engine from ending", async () => {
    const engine = home.start(["serve", "--port", "0", "--json", "--store", engines]);
    const [line] = await once(createInterface(engine.stdout), "line");
    await fetch(`${JSON.parse(line).url}/readyz`); // then no call is under way
    const thaw = server.freeze();
    try {
      engine.kill("SIGTERM");
      expect(await endOf(engine)).toMatchObject({ code: 0, signal: null });
    } finally {
      thaw();
    }
  });

  test("status names the server and the key that were meant, although they failed", async () => {
    const absent = server.url({ user: ENGINE, database: "absent" });
    const keyFile = home.path("other.key");
    await writeFile(keyFile, KEY, { mode: 0o600 });
    const env = { HELMDECK_MEMORY_KEY_FILE: keyFile };
    const { stdout } = await home.run(["status", "--json", "--store", absent], { env });
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ state: "failed", database_path: expect.stringMatching(/^postgres:.*absent$/), driver: "pg" },
      key_source: `HELMDECK_MEMORY_KEY_FILE (${keyFile})`,
    });
  });

  test("after a move with an engines' role, the next step names that role", async () => {
    await home.run(["store", "tea", "oolong"]);
    const moved = await home.run(["move", "--to", owners, "--engine-role", ENGINE]);
    expect(moved).toMatchObject({ code: 0, stderr: expect.stringContaining(`serve --store ${engines}\n`) });
  });

  test("refuses commands that need a file", async () => {
    for (const args of [["backup", "f"], ["restore", "f"], ["repair"]]) {
      expect(await run(args)).toMatchObject({ code: 1, stderr: expect.stringContaining("pg_dump") });
    }
    const compact = await run(["doctor", "--compact"]);
    expect(compact).toMatchObject({ code: 1, stderr: expect.stringContaining("VACUUM") });
  });

  // verifies P-move-one-place
  test("an engine whose memory was moved refuses reads and searches, and is not ready", async () => {
    const engine = home.start(["serve", "--port", "0", "--json", "--store", engines]);
    const ended = finish(engine);
    try {
      const [line] = await once(createInterface(engine.stdout), "line");
      const { url } = JSON.parse(line);
      await run(["store", "tea", "oolong", "--caller", "unknown"]);
      const ask = async (path: string) => {
        const response = await fetch(`${url}${path}`);
        return { status: response.status, text: await response.text() };
      };
      const paths = ["/api/v1/memory/facts/tea", "/api/v1/memory/corpus?query=oolong"];
      for (const path of paths)
        expect(await ask(path)).toMatchObject({ status: 200, text: expect.stringMatching(/oolong/) });
      expect(await home.run(["move", "--from", owners])).toMatchObject({ code: 0 });
      for (const path of paths)
        expect(await ask(path)).toMatchObject({ status: 503, text: expect.stringMatching(/store_moved/) });
      expect(await ask("/readyz")).toMatchObject({ status: 503 });
      expect(await home.run(["get", "tea", "--caller", "unknown"])).toMatchObject({ stdout: "oolong\n" });
    } finally {
      engine.kill("SIGTERM");
      await ended;
    }
  });
});
