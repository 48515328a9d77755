/**
 * Four engines and sixteen writers use one PostgreSQL while the test kills engines and the database. Acknowledged writes exist
 * once, appear in the next answer of any engine, and are unreadable in the database's files.
 */
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresServer, startPostgres, until, whyWithoutPostgres } from "../postgres/server.ts";
import { BUNDLED_COMMAND, makeCommand } from "../run/bundles.ts";
import { Engine, makeDatabase, type Reply } from "./engine.ts";

const SECONDS = process.env.HELMDECK_TEST_SIZE === "large" ? 60 : 15;
const ENGINES = 4;
const WRITERS = 16;
/** Several writers share a subject, so different engines assign its change numbers. */
const SUBJECTS = ["ana", "ben", "cleo", "dan"];
const ENGINE_KILLED_EVERY_MS = 1_500;
const DATABASE_KILLED_EVERY_MS = 6_000;
const REWRITTEN_EVERY = 10;
const BATCH_EVERY = 7;
const CANARY = "walrusquartz";

const why = whyWithoutPostgres();
/** Built from the current sources. */
const PROGRAM = { program: BUNDLED_COMMAND };

/** An answer that lacks a fact acknowledged before the request. */
interface Stale {
  readonly what: string;
  /** The time of the request, and the number of the engine that answered. */
  readonly askedAt: string;
  readonly engine: number;
  readonly answer: Reply | undefined;
  /** The answer to the same request, repeated immediately. */
  readonly again: Reply | undefined;
  /** The number of the subject's last change, as this engine reads it from the feed. */
  readonly feed: Reply | undefined;
  /** The index's progress. */
  readonly index: readonly string[];
}

/** The writes of one subject. */
interface Written {
  readonly acknowledged: Map<string, string>;
  /** Writes without an answer, which may or may not be stored. */
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
    stale: [] as Stale[],
    /** Unexpected answers. */
    defects: [] as Reply[],
    checked: 0,
    engineKills: 0,
    databaseKills: 0,
    refused: 0,
    batched: 0,
    incomplete: 0,
  };
  let isOver = false;

  beforeAll(async () => {
    await makeCommand();
    server = await startPostgres({
      isDurable: true,
      settings: { log_statement: "all", log_min_messages: "info" },
    });
    address = await makeDatabase(server);
    for (let number = 0; number < ENGINES; number += 1) engines.push(await Engine.start(address, PROGRAM));
    const work = Array.from({ length: WRITERS }, (_, writer) => write(writer));
    const harm = [killEngines(), killDatabase()];
    await delay(SECONDS * 1_000); // the duration of the test run
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

  it("lose nothing that was acknowledged, and store nothing twice", async () => {
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
    expect(Math.min(seen.engineKills, seen.databaseKills, seen.batched)).toBeGreaterThan(0);
  });

  it("report why, whenever they cannot answer", () => {
    expect(seen.defects).toEqual([]);
  });

  it("find another engine's acknowledged write in the next answer", () => {
    expect(seen.stale).toEqual([]);
    expect(seen.checked).toBeGreaterThan(100);
  });

  it("leave nothing readable in the database's files, including its log", async () => {
    const [[key = "", value = ""] = []] = written.get("ana")?.acknowledged ?? [];
    expect(findIn([Buffer.from(`${key} ${value}`)])).toBe(true); // control: the search finds text that is present
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
      // Some keys are written repeatedly, and must still exist only once.
      const key = `writer-${writer}/fact-${number % REWRITTEN_EVERY === 0 ? 0 : number}`;
      const word = `walrus${writer}x${number}`; // no other fact has this word, so ranking does not matter
      const value = `The ${CANARY} is ${word}`;
      const at = (writer + number) % ENGINES;
      const reply = await attempt(() => engineAt(at).store(subject, key, value));
      noteDefect(reply);
      if (number % BATCH_EVERY === 0) await writeBatch(subject, mine, `writer-${writer}/batch-${number}`, at);
      if (reply?.status !== 200) {
        mine.acknowledged.delete(key);
        mine.unknown.add(key);
        seen.refused += 1;
        await delay(20);
        continue;
      }
      mine.acknowledged.set(key, value);
      mine.unknown.delete(key);
      await checkElsewhere(subject, key, value, at + 1 + (number % (ENGINES - 1)));
    }
  }

  async function writeBatch(subject: string, mine: Written, prefix: string, at: number): Promise<void> {
    const facts = Array.from({ length: 5 }, (_, n) => ({
      key: `${prefix}/${n}`,
      value: `The ${CANARY} ${n}`,
    }));
    for (const { key } of facts) mine.unknown.add(key);
    const reply = await attempt(() => engineAt(at).storeMany(subject, facts));
    noteDefect(reply);
    const results = (reply?.status === 200 ? reply.body.results : []) as readonly { error?: string }[];
    seen.batched += results.filter(({ error }) => error === undefined).length;
    for (const [n, { key, value }] of facts.entries())
      if (results[n] !== undefined && results[n].error === undefined) mine.acknowledged.set(key, value);
  }

  async function checkElsewhere(subject: string, key: string, value: string, at: number): Promise<void> {
    await check(subject, at % ENGINES, {
      what: `get ${subject} ${key}`,
      ask: (engine) => engine.get(subject, key),
      isCurrent: ({ body }) => body.value === value,
    });
    await check(subject, at % ENGINES, {
      what: `search ${subject} ${key}`,
      ask: (engine) => engine.search(subject, value.split(" ").at(-1) ?? ""),
      isCurrent: ({ body }) => (body.results as readonly { key: string }[]).some((hit) => hit.key === key),
    });
  }

  async function check(
    subject: string,
    at: number,
    { what, ask, isCurrent }: Pick<Stale, "what"> & { ask: Ask; isCurrent: (reply: Reply) => boolean },
  ): Promise<void> {
    const [engine, askedAt] = [engineAt(at), new Date().toISOString()];
    const answer = await attempt(() => ask(engine));
    noteDefect(answer);
    if (answer?.body.incomplete === true) seen.incomplete += 1; // it could not reach the database in time, and reports that
    if (answer === undefined || ![200, 404].includes(answer.status) || answer.body.incomplete === true)
      return;
    seen.checked += 1;
    if (answer.status === 200 && isCurrent(answer)) return;
    const index = engine.readingsOf(subject);
    const again = await attempt(() => ask(engine));
    const feed = await attempt(() => engine.ask(subject, "GET", "/api/v1/memory/revision"));
    const stale = { what, askedAt, engine: at, answer, again, feed, index };
    console.log(JSON.stringify(stale, null, 1));
    seen.stale.push(stale);
  }

  function noteDefect(reply: Reply | undefined): void {
    if (reply?.status === 500) seen.defects.push(reply);
  }

  async function killEngines(): Promise<void> {
    for (let number = 0; !isOver; number += 1) {
      await delay(ENGINE_KILLED_EVERY_MS);
      const at = number % ENGINES;
      await engineAt(at).kill();
      seen.engineKills += 1;
      engines[at] = await Engine.start(address, PROGRAM);
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

type Ask = (engine: Engine) => Promise<Reply>;

/** Undefined if no answer came because the engine was killed. */
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
