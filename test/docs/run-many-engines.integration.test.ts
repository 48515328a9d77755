/** Runs the commands of docs/howto/run-many-engines.md in the order of the page, with a real PostgreSQL. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CommandHome } from "../cli/command.ts";
import { type PostgresServer, startPostgres, whyWithoutPostgres } from "../postgres/server.ts";
import { bashBlocks } from "./bash-blocks.ts";

const BLOCKS = new Map(
  (await bashBlocks("howto/run-many-engines.md")).map(({ name, script }) => [name, script]),
);
const missing = whyWithoutPostgres();

let server: PostgresServer;
let home: CommandHome;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  if (missing !== undefined) return;
  server = await startPostgres();
  home = new CommandHome();
  env = {
    ...(await home.putInPath()),
    PGHOST: server.socketFolder,
    PGUSER: "postgres",
    PGDATABASE: "postgres",
    HELMDECK_MEMORY_KEY_FILE: home.keyPath,
  };
  await home.run(["store", "deploy/konflux", "We deploy through Konflux"]);
});
afterAll(async () => {
  await server?.dispose();
  home?.remove();
});

/** Runs a block and returns its output. */
async function run(name: string): Promise<string> {
  const socket = `helmdeck?host=${encodeURIComponent(server.socketFolder)}`;
  const script = (BLOCKS.get(name) ?? "exit 9")
    .replaceAll("@db.example/helmdeck", `@/${socket}`)
    .replaceAll("postgres://", "'postgres://");
  const quoted = script.replaceAll(socket, `${socket}'`);
  const running = promisify(execFile)("bash", ["-euc", `{ ${quoted}\n} 2>&1`], { cwd: home.folder, env });
  return (await running.catch(({ stdout }) => ({ stdout: `${stdout}failed` }))).stdout;
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
        /^Would move 1 entries, .* to helmdeck at .*\nMoved 1 entries, .* Each row was read back and compared\.\n/m,
      );
      expect(await run("moved")).toMatch(
        /store_moved: The memory database .* was moved to helmdeck at .*failed$/s,
      );
    });

    test("backs the memory up, and changes its key", async () => {
      expect(await run("backup")).toContain("TABLE DATA helmdeck_memory entries");
      expect(await run("key")).toMatch(/Both keys open it/);
      expect(await run("newkey")).toMatch(/The key is now .* no longer opens this database\./);
    });

    test("moves the memory back, and reopens the old database after a loss", async () => {
      expect(await run("back")).toContain("deploy/konflux");
      expect(await run("move")).toContain("Moved 1 entries");
      expect(await run("lost")).toContain("is in use again");
    });

    test("has only commands that this test runs", () => {
      expect([...BLOCKS.keys()]).toEqual([
        ...["database", "prepare", "move", "moved", "backup", "key", "newkey", "back", "lost"],
      ]);
    });
  },
);
