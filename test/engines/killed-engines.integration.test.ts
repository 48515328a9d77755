/**
 * Four engines and sixteen writers over one PostgreSQL, while engines and the database are killed: what was acknowledged is there, once,
 * in the next answer of any engine, and nothing of it is readable in what the database keeps.
 */
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresServer, startPostgres, until, whyWithoutPostgres } from "../postgres/server.ts";
import { Engine, makeDatabase, type Reply } from "./engine.ts";

const SECONDS = process.env.HELMDECK_TEST_SIZE === "large" ? 60 : 15;
const ENGINES = 4;
const WRITERS = 16;
/** Several writers share one: their changes are numbered one after the other, by different engines. */
const SUBJECTS = ["ana", "ben", "cleo", "dan"];
const ENGINE_KILLED_EVERY_MS = 1_500;
const DATABASE_KILLED_EVERY_MS = 6_000;
const CANARY = "walrusquartz";

const why = whyWithoutPostgres();

/** Of one subject. */
interface Written {
  readonly acknowledged: Map<string, string>;
  /** Whose answer did not come: there or not. */
  readonly unknown: Set<string>;
}

describe.skipIf(why !== undefined)(`${ENGINES} engines and ${WRITERS} writers for ${SECONDS} s`, () => {
  let server: PostgresServer;
  let address: string;
  const engines: Engine[] = [];
  const written = new Map<string, Written>(
    SUBJECTS.map((subject) => [subject, { acknowledged: new Map(), unknown: new Set() }]),
  );
  const seen = {
    stale: [] as string[],
    checked: 0,
    engineKills: 0,
    databaseKills: 0,
    refused: 0,
    incomplete: 0,
  };
  let isOver = false;

  beforeAll(async () => {
    server = await startPostgres({
      isDurable: true,
      settings: { log_statement: "all", log_min_messages: "info" },
    });
    address = await makeDatabase(server);
    for (let number = 0; number < ENGINES; number += 1) engines.push(await Engine.start(address));
    const work = Array.from({ length: WRITERS }, (_, writer) => write(writer));
    const harm = [killEngines(), killDatabase()];
    await delay(SECONDS * 1_000); // how long they are let loose
    isOver = true;
    await Promise.all([...work, ...harm]);
  });
  afterAll(async () => {
    for (const engine of engines) await engine.kill();
    await server?.dispose();
    const acknowledged = [...written.values()].reduce((sum, each) => sum + each.acknowledged.size, 0);
    const unknown = [...written.values()].reduce((sum, each) => sum + each.unknown.size, 0);
    console.log(JSON.stringify({ acknowledged, unknown, ...seen, stale: seen.stale.length }));
  });

  it("lose nothing that was acknowledged, and keep nothing twice", async () => {
    for (const engine of engines)
      await until(async () => (await engine.ask("ana", "GET", "/readyz")).status === 200);
    for (const [subject, { acknowledged, unknown }] of written) {
      for (const engine of engines) {
        const kept = await allFacts(engine, subject);
        expect(new Set(kept.map(([key]) => key)).size).toBe(kept.length);
        const found = new Map(kept);
        expect([...acknowledged].filter(([key, value]) => found.get(key) !== value)).toEqual([]);
        expect(kept.filter(([key]) => !acknowledged.has(key) && !unknown.has(key))).toEqual([]);
      }
    }
    expect([...written.values()].every(({ acknowledged }) => acknowledged.size > 0)).toBe(true);
    expect(Math.min(seen.engineKills, seen.databaseKills)).toBeGreaterThan(0);
  });

  it("have what one acknowledged in the next answer of another", () => {
    expect(seen.stale).toEqual([]);
    expect(seen.checked).toBeGreaterThan(100);
  });

  it("leave nothing readable in the database's files, its log among them", async () => {
    const [[key = "", value = ""] = []] = written.get("ana")?.acknowledged ?? [];
    expect(findIn([Buffer.from(`${key} ${value}`)])).toBe(true); // the search finds what is there
    await server.query("CHECKPOINT");
    const files = globSync(join(server.folder, "**")).filter((path) =>
      statSync(path, { throwIfNoEntry: false })?.isFile(),
    );
    expect(
      files.some((path) => readFileSync(path).includes("application_name") || path.endsWith("log")),
    ).toBe(true);
    expect(files).toContain(server.logFile);
    expect(files.filter((path) => findIn([readFileSync(path)]))).toEqual([]);
  });

  async function write(writer: number): Promise<void> {
    const subject = SUBJECTS[writer % SUBJECTS.length] ?? "";
    const mine = written.get(subject);
    for (let number = 0; !isOver && mine !== undefined; number += 1) {
      const key = `writer-${writer}/fact-${number}`;
      const word = `walrus${writer}x${number}`; // in no other fact: what is found is not a matter of rank
      const value = `The ${CANARY} is ${word}`;
      const at = (writer + number) % ENGINES;
      const reply = await attempt(() => engineAt(at).store(subject, key, value));
      if (reply?.status !== 200) {
        mine.unknown.add(key);
        seen.refused += 1;
        await delay(20);
        continue;
      }
      mine.acknowledged.set(key, value);
      await checkElsewhere(subject, key, value, at + 1 + (number % (ENGINES - 1)));
    }
  }

  async function checkElsewhere(subject: string, key: string, value: string, at: number): Promise<void> {
    const engine = engineAt(at % ENGINES);
    const got = await attempt(() => engine.get(subject, key));
    if (got?.status === 200 || got?.status === 404) note(got.body.value === value, `get ${subject} ${key}`);
    const listed = await attempt(() => engine.search(subject, value.split(" ").at(-1) ?? ""));
    if (listed?.body.incomplete === true)
      seen.incomplete += 1; // it waited in vain for the database, and says so
    else if (listed?.status === 200)
      note(JSON.stringify(listed.body).includes(`"${key}"`), `search ${subject} ${key}`);
  }

  function note(isCurrent: boolean, what: string): void {
    seen.checked += 1;
    if (!isCurrent) seen.stale.push(what);
  }

  async function killEngines(): Promise<void> {
    for (let number = 0; !isOver; number += 1) {
      await delay(ENGINE_KILLED_EVERY_MS);
      const at = number % ENGINES;
      await engineAt(at).kill();
      seen.engineKills += 1;
      engines[at] = await Engine.start(address);
    }
  }

  async function killDatabase(): Promise<void> {
    while (!isOver) {
      await delay(DATABASE_KILLED_EVERY_MS);
      await server.kill();
      seen.databaseKills += 1;
      await server.start();
    }
  }

  function engineAt(number: number): Engine {
    const engine = engines[number];
    if (engine === undefined) throw new Error(`There is no engine ${number}.`);
    return engine;
  }
});

/** Undefined where no answer came: the engine was killed. */
async function attempt(ask: () => Promise<Reply>): Promise<Reply | undefined> {
  try {
    return await ask();
  } catch {
    return undefined;
  }
}

async function allFacts(engine: Engine, subject: string): Promise<readonly (readonly [string, string])[]> {
  const all: (readonly [string, string])[] = [];
  let cursor = "";
  do {
    const at = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await engine.ask(subject, "GET", `/api/v1/memory/facts?limit=500${at}`);
    const page = body as { facts: readonly { key: string; value: string }[]; next_cursor?: string };
    all.push(...page.facts.map(({ key, value }) => [key, value] as const));
    cursor = page.next_cursor ?? "";
  } while (cursor !== "");
  return all;
}

function findIn(contents: readonly Buffer[]): boolean {
  const plain = Buffer.from(CANARY);
  const forms = [
    plain,
    Buffer.from(plain.toString("hex")),
    Buffer.from(CANARY, "utf16le"),
    Buffer.from(CANARY.toUpperCase()),
  ];
  return contents.some((content) => forms.some((form) => content.includes(form)));
}
