/** Runs the commands of docs/howto/run-many-engines.md in the order of the page in one shell, with a real PostgreSQL. */
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../scripts/openclaw-host/home.ts";
import { CommandHome } from "../cli/command.ts";
import { type PostgresServer, startPostgres, until, whyWithoutPostgres } from "../postgres/server.ts";
import { bashBlocks, PastedShell } from "./bash-blocks.ts";

const BLOCKS = new Map(
  (await bashBlocks("howto/run-many-engines.md")).map(({ name, script }) => [name, script]),
);
const missing = whyWithoutPostgres();

let port: number;
let server: PostgresServer;
let home: CommandHome;
let shell: PastedShell;
beforeAll(async () => {
  if (missing !== undefined) return;
  port = await freePort();
  server = await startPostgres({ port });
  home = new CommandHome();
  const env = {
    ...(await home.putInPath()),
    PGHOST: server.socketFolder,
    PGPORT: `${port}`,
    PGUSER: "postgres",
    PGDATABASE: "postgres",
    HELMDECK_MEMORY_KEY_FILE: home.keyPath,
  };
  shell = new PastedShell({ cwd: home.folder, env });
  await home.run(["store", "deploy/konflux", "We deploy through Konflux"]);
});
afterAll(async () => {
  shell?.close();
  await server?.dispose();
  home?.remove();
});

/** Runs a block and returns its output. */
function run(name: string): Promise<string> {
  return shell.run((BLOCKS.get(name) ?? "exit 9").replaceAll("@db.example/", `@127.0.0.1:${port}/`));
}

/** Starts an engine as the page does. */
async function serve(env: Readonly<Record<string, string>> = {}) {
  const store = `postgres://helmdeck_engine@127.0.0.1:${port}/helmdeck`;
  const child = home.start(["serve", "--port", "0", "--json", "--require-memory", "--store", store], {
    env: { HELMDECK_MEMORY_KEY_FILE: home.keyPath, ...env },
  });
  const [line] = await once(createInterface(child.stdout), "line");
  const { url } = JSON.parse(line) as { url: string };
  const post = (path: string, body: object) =>
    fetch(`${url}/api/v1/memory/${path}`, {
      ...{ method: "POST", body: JSON.stringify(body) },
      headers: { "Content-Type": "application/json" },
    });
  return {
    store: async (key: string, value: string) => (await post("store", { key, value })).status,
    find: async (query: string) => (await post("search", { query })).text(),
    valueOf: async (key: string) => {
      const answer = await fetch(`${url}/api/v1/memory/facts/${key}`);
      return ((await answer.json()) as { value?: string }).value;
    },
    stop: async () => {
      child.kill("SIGTERM");
      await once(child, "close");
    },
  };
}

describe.skipIf(missing !== undefined)(
  `the guide to many engines${missing ? ` (left out: ${missing})` : ""}`,
  () => {
    test("moves a memory to PostgreSQL, and the old database accepts no writes", async () => {
      expect(await run("database")).toContain("CREATE DATABASE");
      expect(await run("prepare")).toMatch(
        /^The tables in .* are up to date\. helmdeck_engine can use them\.\n$/,
      );
      expect(await run("move")).toMatch(
        /^Would move 1 entry, .* to helmdeck at .*\nMoved 1 entry, .* Each row was read back and compared\.\n/m,
      );
      await expect(run("moved")).rejects.toThrow(
        /store_moved: The memory database .* was moved to helmdeck at/,
      );
    });

    // verifies P-postgres-restored
    test("restores a backup while an engine runs, which then answers from it", async () => {
      const engine = await serve();
      await engine.store("kept", "before the backup");
      expect(await run("backup")).toContain("TABLE DATA helmdeck_memory entries");
      await engine.store("later", "after the backup");
      expect(await engine.find("after backup")).toContain("later");
      expect(await run("restore")).toMatch(/Every row opens: 2 entries.*ALTER DATABASE\nALTER DATABASE\n$/s);
      // Other engines write until the numbers of changes are those that this one has read.
      const store = ["--store", `postgres://helmdeck_engine@127.0.0.1:${port}/helmdeck`];
      for (const key of ["a", "b", "c"])
        await home.run(["store", key, "new", "--caller", "unknown", ...store]);
      await until(async () => (await engine.valueOf("kept")) === "before the backup");
      expect(await engine.valueOf("later")).toBeUndefined();
      expect(await engine.find("after backup")).not.toContain("later");
      await engine.store("again", "after the restore");
      expect(await engine.find("after restore")).toContain("again");
      await engine.stop();
    });

    test("restores a backup on a new server, which a running engine then uses", async () => {
      const engine = await serve();
      await run("backup");
      await engine.store("later", "after the backup");
      await server.dispose();
      expect(await engine.store("lost", "no server").catch(String)).toBe(503);
      server = await startPostgres({ port });
      await shell.run(`export PGHOST=${server.socketFolder}`);
      await run("database");
      expect(await run("fresh")).toContain("Every row opens: 6 entries");
      await until(async () => (await engine.valueOf("again")) === "after the restore");
      expect(await engine.valueOf("later")).toBeUndefined();
      expect(await engine.store("last", "after the loss")).toBe(200);
      await engine.stop();
    });

    test("changes the engines' password while one runs", async () => {
      const rules = (how: string) =>
        server.admit(`local all helmdeck_engine ${how}\nhost all helmdeck_engine all ${how}`);
      const passwordFile = home.path("engine.password");
      await server.query("ALTER ROLE helmdeck_engine PASSWORD 'former'");
      await rules("scram-sha-256");
      await writeFile(passwordFile, "former\n", { mode: 0o600 });
      const engine = await serve({ HELMDECK_MEMORY_STORE_PASSWORD_FILE: passwordFile });
      expect(await engine.store("guarded", "by a password")).toBe(200);
      await writeFile(home.path("new.password"), "it's new\n", { mode: 0o600 });
      await shell.run(`export HELMDECK_MEMORY_STORE_PASSWORD_FILE=${passwordFile}`);
      await run("password");
      await server.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'helmdeck_engine'",
      );
      await until(async () => (await engine.store("guarded", "by another password")) === 200);
      await engine.stop();
      await rules("trust");
      await shell.run("unset HELMDECK_MEMORY_STORE_PASSWORD_FILE");
    });

    test("changes its key", async () => {
      expect(await run("onekey")).toMatch(/The key is now .* no longer opens this database\./);
      expect(await run("key")).toMatch(/Both keys open it/);
      expect(await run("newkey")).toMatch(/The key is now .* no longer opens this database\./);
    });

    test("moves the memory back, and reopens the old database after a loss", async () => {
      expect(await run("back")).toContain("deploy/konflux");
      expect(await run("move")).toContain("Moved 8 entries");
      expect(await run("lost")).toContain("is in use again");
    });

    test("has only commands that this test runs", () => {
      expect([...BLOCKS.keys()]).toEqual([
        ...["database", "prepare", "move", "moved", "backup", "restore", "fresh"],
        ...["onekey", "key", "newkey", "password", "back", "lost"],
      ]);
    });
  },
);
