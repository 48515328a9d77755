/** What a person confirmed is what happens, while another process writes: on each surface, over SQLite and PostgreSQL. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { postgresServer } from "../../app/database-server/postgres-server.ts";
import { openMemory } from "../../app/open-memory.ts";
import type { RemoteMemory } from "../../app/remote/remote-memory.ts";
import { preparePostgres } from "../../engine/store/postgres/open-postgres.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { type PostgresServer, startPostgres, whyWithoutPostgres } from "../postgres/server.ts";
import { sized } from "../run/size.ts";
import type { Told } from "./children/beside.ts";
import {
  type Confirmed,
  editSurfaces,
  forgetSurfaces,
  onCommandLine,
  type Served,
  serve,
} from "./confirmed.ts";

const CHILD = fileURLToPath(new URL("./children/beside.ts", import.meta.url));
const RUNS = sized(20, 1_000);
const LONG_MS = sized(60_000, 1_800_000);

/** Another process on the same memory. */
class Beside {
  readonly #child: ChildProcess;
  #told = 0;

  constructor(...args: readonly string[]) {
    this.#child = fork(CHILD, args);
    this.#child.setMaxListeners(0);
  }

  /** Resolves when the process has done it. */
  async tell(what: Omit<Told, "id">): Promise<void> {
    this.#told += 1;
    const id = this.#told;
    this.#child.send({ id, ...what });
    await this.done(id);
  }

  async done(id: number): Promise<void> {
    for (;;) {
      const [answer] = (await once(this.#child, "message")) as [Told]; // all that it sends
      if (answer.id === id) return;
    }
  }

  async stop(): Promise<void> {
    this.#child.disconnect();
    await once(this.#child, "exit");
  }
}

/** In every other run, the other process is done before the person confirms. Otherwise both write at the same time. */
async function race(run: number, confirm: () => Promise<unknown>, other: () => Promise<void>): Promise<void> {
  if (run % 2 === 0) {
    await other();
    await confirm();
    return;
  }
  const first = other();
  for (let turns = Math.random() * 40; turns > 0; turns -= 1) await new Promise(setImmediate);
  await Promise.all([first, confirm()]);
}

function surface(all: readonly Confirmed[], name: string): Confirmed["shows"] {
  const found = all.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no surface ${name}.`);
  return found.shows;
}

const LINE_WITH_ENGINE = "the command line with a served engine";
const FORGETS = [
  ...["a page", "an approval in the gateway", "a chat", "REST", "MCP", "the command line"],
  ...["an approval in a gateway with a served engine", "a chat with a served engine", LINE_WITH_ENGINE],
];
const EDITS = [
  ...["an edit on a page", "a new fact on a page", "an undo on a page", "a supersede on a page"],
  ...["the command line", LINE_WITH_ENGINE],
];

/** What the other process does with a fact, and the value that it leaves. */
const THEIRS = {
  store: (key: string) => ({ store: { key, value: "Theirs." } }),
  forget: (key: string) => ({ forget: `key:${key}` }),
};
const LEFT = { store: "Theirs.", forget: undefined };

const missing = whyWithoutPostgres();

describe.each(["SQLite", ...(missing === undefined ? ["PostgreSQL"] : [])])("over %s", (kind) => {
  let folder: string;
  let server: PostgresServer | undefined;
  let memory: OpenMemory;
  let served: Served;
  let remote: RemoteMemory;
  let where: readonly string[];
  let beside: Beside;
  const place = () => ({ databasePath: join(folder, "memory.sqlite"), keyPath: join(folder, "memory.key") });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "helmdeck-confirmed-"));
    const { databasePath, keyPath } = place();
    const address = kind === "SQLite" ? undefined : await prepared(keyPath);
    memory = await openMemory({
      ...{ ...place(), env: {}, driver: betterSqliteDriver, sweepEveryMs: 0 },
      ...(address !== undefined && {
        server: await postgresServer(address, { env: {}, homeDir: "", from: "argument" }),
      }),
    });
    await memory.storeFact("main", { key: "first", value: "Opens the memory." });
    served = await serve(memory);
    remote = served.open();
    where = address === undefined ? ["--db", databasePath] : ["--store", address];
    beside = new Beside(databasePath, keyPath, ...(address === undefined ? [] : [address]));
    await beside.done(0);
  });
  afterAll(async () => {
    await beside?.stop();
    await remote?.close();
    await served?.close();
    await memory?.close();
    await server?.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  async function prepared(keyPath: string): Promise<string> {
    server = await startPostgres();
    await server.query("CREATE ROLE engine LOGIN");
    await server.query("CREATE ROLE keeper LOGIN");
    await server.query("CREATE DATABASE memory OWNER keeper");
    const owner = server.url({ user: "keeper", database: "memory" });
    await preparePostgres({ connection: { connectionString: owner }, engineRoles: ["engine"] });
    await writeFile(keyPath, `${"5a".repeat(32)}\n`, { mode: 0o600 });
    return server.url({ user: "engine", database: "memory" });
  }

  beforeEach(() => memory.forget("main", { scope: "all" }));

  const byCommand = (args: (target: string) => readonly string[], answer: string): readonly Confirmed[] => {
    const { keyPath } = place();
    return [
      { name: "the command line", shows: onCommandLine({ where, keyPath }, args, answer) },
      { name: LINE_WITH_ENGINE, shows: onCommandLine({ where: [], keyPath, served }, args, answer) },
    ];
  };

  // verifies P-forget-exact
  test.each(FORGETS)(
    "forgetting by %s deletes only what it showed",
    async (name) => {
      const lines = byCommand((scope) => ["forget", scope], "y\n");
      const shows = surface([...forgetSurfaces(memory, remote), ...lines], name);
      const wrong = { deletedUnseen: 0, keptShown: 0 };
      for (let run = 0; run < RUNS; run += 1) {
        const [shown, late, category] = [`shown/${name}/${run}`, `late/${name}/${run}`, `team-${run}`];
        await memory.storeFact("main", { key: shown, value: "Shown.", category });
        const confirm = await shows(`category:${category}`);
        await race(run, confirm, () => beside.tell({ store: { key: late, value: "Late.", category } }));
        if ((await memory.getFact("main", { key: late })) === undefined) wrong.deletedUnseen += 1;
        if ((await memory.getFact("main", { key: shown })) !== undefined) wrong.keptShown += 1;
      }
      console.info(`${kind}: ${name}: ${RUNS} runs, ${JSON.stringify(wrong)}`);
      expect(wrong).toEqual({ deletedUnseen: 0, keptShown: 0 });
    },
    LONG_MS,
  );

  // verifies P-edit-seen
  test.each(EDITS.flatMap((name) => [[name, "store"] as const, [name, "forget"] as const]))(
    "%s changes nothing that another process did meanwhile: %s",
    async (name, what) => {
      const lines = byCommand((key) => ["edit", key, "-"], "Mine.\n");
      const shows = surface([...editSurfaces(memory), ...lines], name);
      const alone = `${name}/${what}`;
      for (const value of ["Former.", "Shown."]) await memory.storeFact("main", { key: alone, value });
      await (await shows(alone))();
      expect((await memory.getFact("main", { key: alone }))?.value).not.toBe("Shown.");
      let wrong = 0;
      for (let run = 0; run < RUNS; run += 1) {
        const key = `${name}/${what}/${run}`;
        for (const value of ["Former.", "Shown."]) await memory.storeFact("main", { key, value });
        const confirm = await shows(key);
        await race(run, confirm, () => beside.tell(THEIRS[what](key)));
        const value = (await memory.getFact("main", { key }))?.value;
        if (value !== LEFT[what]) wrong += 1;
      }
      console.info(`${kind}: ${name}, ${what}: ${RUNS} runs, ${wrong} wrong`);
      expect(wrong).toBe(0);
    },
    LONG_MS,
  );
});
