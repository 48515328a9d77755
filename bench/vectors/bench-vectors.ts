/** Compares semantic search with exact search and sqlite-vec at three sizes. Each system and size runs in a separate process. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Measured, mean, table } from "../measured.ts";
import { measureInChild } from "../processes.ts";
import { fillWithVectors } from "./filled.ts";
import { DIMENSIONS } from "./made-vectors.ts";
import type { VectorSample } from "./vectors-child.ts";

const SIZES = [1_000, 10_000, 100_000];
const CHILD = fileURLToPath(new URL("vectors-child.ts", import.meta.url));
const SQLITE_VEC = "sqlite-vec@0.1.9";

const NAMES: Readonly<Record<string, string>> = {
  ours: "**ours**",
  exact: "exact, plain TypeScript",
  "sqlite-vec": "sqlite-vec, float",
};

interface Row extends VectorSample {
  readonly entries: number;
  /** The share of the exact search's ten nearest entries that is among the ten of this system. */
  readonly agreement: number;
}

export async function measureVectors(onProgress: (message: string) => void): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "helmdeck-bench-vectors-"));
  try {
    onProgress(`${SQLITE_VEC}, for comparison alone`);
    const extension = fetchSqliteVec(folder);
    const rows: Row[] = [];
    for (const entries of SIZES) rows.push(...(await measureSize(folder, entries, extension, onProgress)));
    return section(rows, extension !== undefined);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureSize(
  parent: string,
  entries: number,
  extension: string | undefined,
  onProgress: (message: string) => void,
): Promise<readonly Row[]> {
  const size = entries.toLocaleString("en");
  const folder = mkdtempSync(join(parent, "memory-"));
  onProgress(`filling a memory with ${size} entries and their vectors`);
  await fillWithVectors(folder, entries);
  const systems = ["exact", "ours", ...(extension === undefined ? [] : ["sqlite-vec"])];
  const samples = systems.map((system) => {
    onProgress(`${system} at ${size} entries`);
    return measureInChild<VectorSample>(CHILD, system, folder, extension ?? "");
  });
  rmSync(folder, { recursive: true });
  const [exact] = samples;
  return samples.map((sample) => ({ ...sample, entries, agreement: agreementOf(sample, exact ?? sample) }));
}

function agreementOf({ nearest }: VectorSample, exact: VectorSample): number {
  return mean(
    exact.nearest.map((wanted, question) => {
      const got = new Set(nearest[question]);
      return wanted.filter((key) => got.has(key)).length / wanted.length;
    }),
  );
}

/** The path of the loadable extension. Undefined if the registry or a build for this machine is not available. */
function fetchSqliteVec(folder: string): string | undefined {
  try {
    const args = ["install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, SQLITE_VEC];
    execFileSync("npm", args, { stdio: "ignore", timeout: 120_000 });
    const module: unknown = createRequire(join(folder, "package.json"))("sqlite-vec");
    const { getLoadablePath } = module as { getLoadablePath(): string }; // sqlite-vec's documented function
    return getLoadablePath();
  } catch {
    return undefined;
  }
}

function section(rows: readonly Row[], hasSqliteVec: boolean): Measured {
  const head = [
    "system",
    "entries",
    "vectors p50 ms",
    "p95 ms",
    "CPU ms",
    "hybrid p50 ms",
    "p95 ms",
    "CPU ms",
    "first answer ms",
    "all in memory ms",
    "longest slice ms",
    "resident MB",
    "recall of ten",
  ];
  return {
    title: "Semantic search",
    command: "npm run bench:speed -- --only vectors",
    markdown: [
      `The vector index beside exact search and sqlite-vec: generated, clustered vectors of ${DIMENSIONS} dimensions, ten hits each, without the time to embed. Hybrid: the whole search, keywords and vectors. CPU: the mean processor time of one search, which a busy machine changes little. First answer: from process start to the first hits, by keywords, while vectors are still being read from the encrypted database. All in memory: from process start until every vector is there. Longest slice: the longest time that this blocks the event loop. Resident: memory beyond an empty process; ours includes texts and the keyword index. Recall of ten: the share of the true ten nearest that were found.${hasSqliteVec ? "" : " sqlite-vec could not be downloaded here, so it is missing."}`,
      table(head, rows.map(cellsOf)),
    ].join("\n\n"),
    json: rows,
  };
}

function cellsOf(row: Row): readonly string[] {
  const ms = (value: number | undefined, digits = 2) => value?.toFixed(digits) ?? "";
  return [
    NAMES[row.system] ?? row.system,
    row.entries.toLocaleString("en"),
    ...[row.vectors, row.hybrid].flatMap((times) =>
      [times?.p50Ms, times?.p95Ms, times?.processorMs].map((value) => ms(value)),
    ),
    ms(row.firstAnswerMs, 0),
    ms(row.completeMs, 0),
    row.system === "ours" ? ms(row.longestSliceMs, 1) : "all at once",
    (row.residentBytes / 2 ** 20).toFixed(0),
    `${(100 * row.agreement).toFixed(1)} %`,
  ];
}
