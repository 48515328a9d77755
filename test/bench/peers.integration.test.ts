/** The bench of memories: a system that is not admitted, crashes or hangs has no figures, and the others are measured all the same. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { linesIn, outcomeIn, runPeers } from "../../bench/peers/bench-peers.ts";
import { readRun, writeRun } from "../../bench/peers/figures.ts";
import { writePage } from "../../bench/peers/page.ts";
import { SYSTEMS } from "./stub-peers.ts";

const WITHIN_MS = 15_000;
const STUBS = join(import.meta.dirname, "stub-peers.ts");
let folder: string;
const progress: string[] = [];

function run(): Promise<void> {
  return runPeers({
    systems: SYSTEMS,
    groups: ["recall"],
    folder,
    child: { seed: 1, isQuick: true, systems: STUBS },
    withinMs: WITHIN_MS,
    onProgress: (message) => progress.push(message),
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "helmdeck-peers-"));
  await run();
}, 120_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

it("goes on after a system that is not admitted, one that crashes, and one that hangs", () => {
  const outcomes = SYSTEMS.map(({ id }) => [id, outcomeIn(join(folder, `${id}.recall.jsonl`))]);
  expect(outcomes).toEqual([
    ["finds-nothing", "not admitted"],
    ["crashes", "crashed"],
    ["hangs", "hung"],
    ["works", "done"],
  ]);
});

it("says on the page what happened to each", async () => {
  const path = join(folder, "page.md");
  const kept = join(folder, "kept.jsonl.gz");
  const about = { date: "2026-01-01", machine: "a machine", seed: 1, hasLocomo: false };
  writeRun(kept, { about, lines: linesIn(folder) });
  writePage({ runs: [readRun(kept)], systems: SYSTEMS, path });
  const page = await readFile(path, "utf8");
  expect(page).toMatch(
    /\| finds nothing \|.*\*\*not admitted\*\* \(recall\): `The control was found before: false/,
  );
  expect(page).toMatch(/\| crashes \|.*\*\*crashed\*\* \(recall\): `ended with 3/);
  expect(page).toMatch(/\| hangs \|.*\*\*hung\*\* \(recall\): `no end within 15 s/);
  expect(page).toMatch(/\| works \|.*\| admitted \|/);
});

it("measures what has a result no second time", async () => {
  progress.length = 0;
  await run();
  expect(progress).toEqual([]);
});
