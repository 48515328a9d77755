/**
 * Runs the commands of docs/howto/run-the-server.md that exchange the secret and revoke tokens, on two machines (folders) whose engines
 * share one PostgreSQL, while clients send requests to both.
 */
import { type ChildProcess, execFile } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CommandHome } from "../cli/command.ts";
import { type PostgresServer, startPostgres, until, whyWithoutPostgres } from "../postgres/server.ts";
import { bashBlocks, PastedShell } from "./bash-blocks.ts";

const BLOCKS = new Map(
  (await bashBlocks("howto/run-the-server.md")).map(({ name, script }) => [name, script]),
);
const missing = whyWithoutPostgres();
const SUBJECTS = ["main", "work", "home"];

/** A machine with its own copy of the secret, its shell and its engine. */
interface Machine {
  readonly folder: string;
  readonly shell: PastedShell;
  readonly url: string;
  readonly engine: ChildProcess;
}

let server: PostgresServer;
let home: CommandHome;
let path: Readonly<Record<string, string>>;
let machines: readonly Machine[];

beforeAll(async () => {
  if (missing !== undefined) return;
  server = await startPostgres();
  await server.query("CREATE ROLE engine LOGIN");
  await server.query("CREATE DATABASE memory OWNER engine");
  home = new CommandHome();
  path = await home.putInPath();
  await writeFile(home.path("key"), "5a".repeat(32), { mode: 0o600 });
  machines = [await startMachine("one"), await startMachine("two")];
});
afterAll(async () => {
  for (const { engine, shell } of machines ?? []) {
    shell.close();
    engine.kill("SIGTERM");
    await once(engine, "close");
  }
  home?.remove();
  await server?.dispose();
});

async function startMachine(name: string): Promise<Machine> {
  const folder = home.path(name);
  await mkdir(folder);
  await writeFile(join(folder, "secret"), `${"former-secret".repeat(3)}\n`, { mode: 0o600 });
  const store = server.url({ user: "engine", database: "memory" });
  const args = [
    "serve",
    "--port",
    "0",
    "--json",
    "--require-memory",
    "--rate-limit",
    "0",
    "--log-level",
    "error",
  ];
  const env = {
    HELMDECK_MEMORY_KEY_FILE: home.path("key"),
    HELMDECK_MEMORY_STORE: store,
    ...filesIn(folder),
  };
  const engine = home.start(args, { env });
  const [line] = await once(createInterface(engine.stdout), "line");
  const shell = new PastedShell({ cwd: folder, env: { ...path, ...filesIn(folder) } });
  return { folder, shell, engine, url: JSON.parse(line).url };
}

function filesIn(folder: string) {
  return { HELMDECK_JWT_SECRET_FILE: join(folder, "secret") };
}

function run(name: string, { shell }: Machine): Promise<string> {
  return shell.run(BLOCKS.get(name) ?? "exit 9");
}

async function tokenFor(subject: string, { folder }: Machine): Promise<string> {
  const made = promisify(execFile)("helmdeck-memory", ["token", "--subject", subject], {
    env: { ...path, ...filesIn(folder) },
  });
  return (await made).stdout.trim();
}

async function statusOf({ url }: Machine, token: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/memory`, { headers: { Authorization: `Bearer ${token}` } });
  await answer.arrayBuffer();
  return answer.status;
}

const statusesOf = (token: string) => Promise.all(machines.map((machine) => statusOf(machine, token)));

/** Each subject's client asks both engines in turn, always with the token that is current then. */
function startLoad(tokens: Map<string, string>) {
  const counts = new Map<number, number>();
  let isOver = false;
  const client = async (subject: string) => {
    while (!isOver) {
      for (const status of await statusesOf(tokens.get(subject) ?? "")) {
        counts.set(status, (counts.get(status) ?? 0) + 1);
      }
    }
  };
  const clients = SUBJECTS.map(client);
  return {
    answered: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    end: async () => {
      isOver = true;
      await Promise.all(clients);
      return [...counts.keys()];
    },
  };
}

describe.skipIf(missing !== undefined)(
  `the guide to a server${missing ? ` (left out: ${missing})` : ""}`,
  () => {
    // verifies P-alone-tokens
    test("exchanges the secret of two engines under load, with no request refused", async () => {
      const [one, two] = machines as [Machine, Machine];
      const former = await tokenFor("main", one);
      const tokens = new Map<string, string>();
      for (const subject of SUBJECTS) tokens.set(subject, await tokenFor(subject, one));
      const load = startLoad(tokens);
      await run("accept", one);
      await copyFile(join(one.folder, "new.secret"), join(two.folder, "new.secret"));
      await run("accept", two);
      await run("sign", one);
      // What a person takes a second for.
      const next = await tokenFor("main", one);
      await until(async () => (await statusesOf(next)).every((status) => status === 200));
      await run("sign", two);
      for (const subject of SUBJECTS) {
        const before = load.answered();
        tokens.set(subject, await tokenFor(subject, two));
        await until(() => load.answered() > before + 20); // others still use their old ones
      }
      expect(await statusesOf(former)).toEqual([200, 200]);
      for (const machine of machines) await run("remove", machine);
      await until(async () => (await statusesOf(former)).every((status) => status === 401));
      const before = load.answered();
      await until(() => load.answered() > before + 20);
      expect(await load.end()).toEqual([200]);
      expect(await readFile(join(one.folder, "secret"))).toEqual(await readFile(join(two.folder, "secret")));
    });

    // verifies P-alone-tokens
    test("revokes a subject's tokens on both engines, and no others", async () => {
      const [one, two] = machines as [Machine, Machine];
      const [stolen, others] = [await tokenFor("main", one), await tokenFor("work", one)];
      expect(await statusesOf(stolen)).toEqual([200, 200]);
      await run("revoke", one);
      await copyFile(join(one.folder, "secret.revoked"), join(two.folder, "secret.revoked"));
      await until(async () => (await statusesOf(stolen)).every((status) => status === 401));
      const later = (await readFile(join(one.folder, "main.token"), "utf8")).trim();
      expect(await statusesOf(later)).toEqual([200, 200]);
      expect(await statusesOf(others)).toEqual([200, 200]);
    });

    test("has only commands that this test runs", () => {
      expect([...BLOCKS.keys()]).toEqual(["accept", "sign", "remove", "revoke"]);
    });
  },
);
