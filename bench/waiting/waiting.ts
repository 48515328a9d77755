/**
 * `node bench/waiting/waiting.ts [--rows 1000000]`: measures how long others wait at most while one process does long work on a database of
 * that many rows: forgetting all of it, doctor, export, import, a change of the key. Target: 100 ms.
 *
 * The others are a second process that writes and reads, and other tasks in the thread of the working process (the time between two turns
 * of its event loop). The first line of the result is for an idle process, as a baseline for the machine.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { exportLines } from "../../app/transfer/export-lines.ts";
import { parseKey } from "../../engine/store/master-key.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { openSqliteStoreToChangeKey } from "../../engine/store/sqlite/open-sqlite.ts";
import { importLines } from "../../test/transfer/import-lines.ts";

export interface Waited {
  readonly writeMs: number;
  readonly readMs: number;
  readonly writes: number;
  /** Error codes of failed operations. */
  readonly failed: readonly string[];
}

const KEY = "5a".repeat(32);
const NEW_KEY = "c3".repeat(32);
const OWNER = namespaceOf("bench");
const QUOTA = { entries: 10_000_000, bytes: 2 ** 40 };
const FILL_AT_ONCE = 1_000;

type Store = Awaited<ReturnType<typeof openSqliteStoreToChangeKey>>;

function openWith(path: string, hexKey: string): Promise<Store> {
  const key = parseKey(hexKey, "benchmark");
  return openSqliteStoreToChangeKey({ path, key, driver: betterSqliteDriver, quota: QUOTA });
}

async function fill(store: Store, rows: number): Promise<void> {
  const expiresAt = Date.now() + 90 * 86_400_000;
  for (let at = 0; at < rows; at += FILL_AT_ONCE) {
    const entries = Array.from({ length: Math.min(FILL_AT_ONCE, rows - at) }, (_, i) => ({
      namespace: OWNER,
      origin: "fact" as const,
      key: `team/topic-${(at + i) % 97}/entry-${at + i}`,
      value: Buffer.from(`Entry ${at + i} says what somebody prefers, `.padEnd(120, "and why; ")),
      category: "user_facts",
      tags: ["bench"],
      expiresAt,
    }));
    await store.putMany(entries);
  }
}

/** The longest time between two turns of this thread's event loop. */
function watchTurns(): () => number {
  let last = performance.now();
  let longest = 0;
  let isOver = false;
  const look = (): void => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    isOver = true;
    return Math.max(longest, performance.now() - last);
  };
}

async function startOther(path: string): Promise<ChildProcess> {
  const file = fileURLToPath(new URL("other-child.ts", import.meta.url));
  const child = fork(file, [path, KEY], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  await messageOf(child);
  return child;
}

function messageOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => child.once("message", resolve));
}

async function measure(other: ChildProcess, name: string, work: () => Promise<unknown>): Promise<void> {
  other.send("begin");
  const turns = watchTurns();
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1_000;
  const turnMs = turns();
  const report = messageOf(other);
  other.send("report");
  const { writeMs, readMs, writes, failed } = (await report) as Waited; // the child sends only this message by now
  const shown = [writeMs, readMs, turnMs].map((ms) => ms.toFixed(0).padStart(6));
  const problems = failed.length === 0 ? "" : `failed: ${failed.join(" ")}`;
  const load = loadavg()[0]?.toFixed(1);
  console.log(
    `| ${name.padEnd(10)} | ${seconds.toFixed(1).padStart(7)} | ${shown.join(" | ")} | ${writes} | ${load} | ${problems}`,
  );
}

async function* linesOf(store: Store): AsyncGenerator<Buffer> {
  const onProblem = (): void => {};
  for await (const line of exportLines({ memory: { store }, subject: "bench", onProblem })) {
    yield Buffer.from(`${line}\n`);
  }
}

async function drain(lines: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of lines);
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { rows: { type: "string", default: "1000000" } } });
  const rows = Number(values.rows);
  const folder = mkdtempSync(join(tmpdir(), "helmdeck-bench-waiting-"));
  const path = join(folder, "memory.sqlite");
  let store = await openWith(path, KEY);
  try {
    await fill(store, rows);
    const other = await startOther(path);
    console.log(
      "| work       | seconds | write ms | read ms | turn ms | writes | load |\n|---|---:|---:|---:|---:|---:|---:|",
    );
    await measure(other, "nothing", () => new Promise((resolve) => setTimeout(resolve, 5_000)));
    await measure(other, "doctor", () => store.inspect());
    await measure(other, "export", () => drain(linesOf(store)));
    await measure(other, "import", () =>
      importLines({
        memory: { store, now: Date.now },
        subject: "copy",
        input: some(linesOf(store), rows / 20),
        allowSecrets: true,
      }),
    );
    other.send({ key: NEW_KEY });
    await measure(other, "key change", async () => {
      await store.beginKeyChange(parseKey(NEW_KEY, "benchmark"));
      await store.reseal();
      await store.finishKeyChange();
    });
    await store.close();
    store = await openWith(path, NEW_KEY);
    await measure(other, "forget all", () => store.deleteWhere({ namespace: OWNER }));
    const gone = new Promise((resolve) => other.once("exit", resolve));
    other.send("end");
    await gone;
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first `count` lines. */
async function* some(lines: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let left = count;
  for await (const line of lines) {
    if (left <= 0) return;
    left -= 1;
    yield line;
  }
}

await main();
