/**
 * Measures how many sealed, durable puts per second the SQLite store takes, one by one and in batches, compared with the same table
 * without sealing, with both drivers. `node bench/bench-store.ts` prints the table; bench/speed.ts uses `measureStore`.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseKey } from "../engine/store/master-key.ts";
import type { MemoryStore, NewEntry } from "../engine/store/memory-store.ts";
import { namespaceOf } from "../engine/store/namespace.ts";
import { betterSqliteDriver } from "../engine/store/sqlite/better-sqlite-driver.ts";
import { nodeSqliteDriver } from "../engine/store/sqlite/node-sqlite-driver.ts";
import { openSqliteStore } from "../engine/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../engine/store/sqlite/sqlite-driver.ts";
import type { Measured } from "./measured.ts";

/** Each round measures everything once, so that a busy moment affects all subjects. The median counts. */
const ROUNDS = 5;
const SINGLE_PUTS = 300;
const BATCHES = 10;

/** The results of one subject in one round. */
interface Figures {
  readonly singlePerSecond: number;
  readonly batchedPerSecond: number;
  /** For reading and opening all entries of the batches. */
  readonly readPerSecond: number;
}

interface Subject {
  readonly name: string;
  measure(folder: string, load: Load): Promise<Figures>;
}

interface Load {
  readonly singles: readonly NewEntry[];
  readonly batches: readonly (readonly NewEntry[])[];
}

const BATCH_SIZE = 1_000;
const KEY = parseKey("5a".repeat(32), "benchmark");
const OWNER = namespaceOf("bench");

/** The settings with which the store opens the database (engine/store/sqlite/open-sqlite.ts). */
const SAME_PRAGMAS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
  PRAGMA secure_delete = ON;
  PRAGMA temp_store = MEMORY;
`;

export async function measureStore(): Promise<Measured> {
  const load = makeLoad();
  const subjects = [betterSqliteDriver, nodeSqliteDriver].flatMap((driver) => [sealed(driver), bare(driver)]);
  const measured = new Map(subjects.map((subject) => [subject.name, [] as Figures[]]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const subject of subjects) measured.get(subject.name)?.push(await inFolder(subject, load));
  }
  const rows = [...measured].map(([name, figures]) => ({ name, ...medianOf(figures), rounds: figures }));
  return {
    title: "Encrypted store",
    command: "npm run bench:speed -- --only store",
    markdown: `What encryption costs: the store beside a bare table with the same columns, indexes and settings, on both SQLite drivers. ${SINGLE_PUTS} single writes, ${BATCHES} batches of ${BATCH_SIZE.toLocaleString("en")}, values of 200 bytes. Each write or batch is synced to disk.\n\n${toMarkdown(rows)}`,
    json: { rounds: ROUNDS, singlePuts: SINGLE_PUTS, batches: BATCHES, batchSize: BATCH_SIZE, rows },
  };
}

/** Values as long as typical facts. None compresses well or repeats. */
function makeLoad(): Load {
  let made = 0;
  const next = (): NewEntry => ({
    namespace: OWNER,
    origin: "fact",
    key: `team/topic-${made % 97}/entry-${made++}`,
    value: Buffer.from(
      `Entry ${made} says what somebody prefers, `.padEnd(200, `and why (${made * 7_919}); `),
    ),
    category: "user_facts",
    tags: ["bench", `tag-${made % 13}`],
    expiresAt: Date.now() + 7_776_000_000,
  });
  const many = (count: number): readonly NewEntry[] => Array.from({ length: count }, next);
  return { singles: many(SINGLE_PUTS), batches: Array.from({ length: BATCHES }, () => many(BATCH_SIZE)) };
}

function sealed(driver: SqliteDriver): Subject {
  return {
    name: `encrypted store, ${driver.name}`,
    measure: async (folder, { singles, batches }) => {
      const store = await openSqliteStore({ path: join(folder, "memory.sqlite"), key: KEY, driver });
      const single = await timed(async () => {
        for (const entry of singles) await store.put(entry);
      });
      const batched = await timed(async () => {
        for (const batch of batches) await store.putMany(batch);
      });
      const read = await timed(() => readAll(store));
      await store.close();
      return figuresOf({ singles, batches }, single, batched, read);
    },
  };
}

/** The same table, indexes and settings, but with plain values and without the store's checks and counters. */
function bare(driver: SqliteDriver): Subject {
  return {
    name: `bare table, ${driver.name}`,
    measure: async (folder, { singles, batches }) => {
      const path = join(folder, "memory.sqlite");
      await (await openSqliteStore({ path, key: KEY, driver })).close();
      const connection = await driver.open(path, "write");
      connection.exec(SAME_PRAGMAS);
      const insert = connection.prepare(
        "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, zeroblob(32), ?)",
      );
      let seq = 0;
      const write = (entries: readonly NewEntry[]): void => {
        connection.exec("BEGIN IMMEDIATE");
        for (const { namespace, origin, key, category, tags, expiresAt = null, value } of entries) {
          const id = `mem_${randomBytes(16).toString("hex")}`;
          const now = Date.now();
          const labels = [namespace, origin, key, category, JSON.stringify(tags)] as const;
          insert.run(++seq, id, ...labels, now, now, expiresAt, value);
        }
        connection.exec("COMMIT");
      };
      const single = await timed(() => {
        for (const entry of singles) write([entry]);
      });
      const batched = await timed(() => {
        for (const batch of batches) write(batch);
      });
      const select = connection.prepare("SELECT * FROM entries WHERE namespace = ? AND seq > 0 ORDER BY seq");
      const read = await timed(() => select.all(OWNER));
      connection.close();
      return figuresOf({ singles, batches }, single, batched, read);
    },
  };
}

async function readAll(store: MemoryStore): Promise<void> {
  for (let since = 0, more = true; more; ) {
    const changes = await store.changes({ namespace: OWNER, since, limit: 10_000 });
    if (changes.kind === "start_over" || changes.unreadable.length > 0)
      throw new Error("the store lost something");
    ({ cursor: since, more } = changes);
  }
}

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}

function figuresOf({ singles, batches }: Load, single: number, batched: number, read: number): Figures {
  const batchedCount = batches.length * BATCH_SIZE;
  return {
    singlePerSecond: Math.round(singles.length / single),
    batchedPerSecond: Math.round(batchedCount / batched),
    readPerSecond: Math.round((singles.length + batchedCount) / read),
  };
}

async function inFolder(subject: Subject, load: Load): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), "helmdeck-memory-bench-"));
  try {
    return await subject.measure(folder, load);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function medianOf(figures: readonly Figures[]): Figures {
  const middle = (field: keyof Figures): number => {
    const sorted = figures.map((one) => one[field]).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  };
  return {
    singlePerSecond: middle("singlePerSecond"),
    batchedPerSecond: middle("batchedPerSecond"),
    readPerSecond: middle("readPerSecond"),
  };
}

function toMarkdown(rows: readonly ({ readonly name: string } & Figures)[]): string {
  return [
    "| | single writes/s | batched writes/s | entries read/s |",
    "|---|---:|---:|---:|",
    ...rows.map(
      (row) => `| ${row.name} | ${row.singlePerSecond} | ${row.batchedPerSecond} | ${row.readPerSecond} |`,
    ),
  ].join("\n");
}

if (import.meta.main) {
  const { title, markdown } = await measureStore();
  console.log(`${title}\n\n${markdown}`);
}
