/** Keyword search at three sizes beside MiniSearch and SQLite FTS5: each system and size in a process of its own. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Measured, table } from "../measured.ts";
import type { Sample } from "./search-child.ts";
import { SYSTEMS } from "./search-systems.ts";

export interface SearchBenchOptions {
  readonly sizes?: readonly number[];
  readonly onProgress?: (message: string) => void;
}

const SIZES = [1_000, 10_000, 100_000];
const CHILD = fileURLToPath(new URL("search-child.ts", import.meta.url));
/** MiniSearch at 100,000 entries takes minutes on a small machine. */
const PATIENCE_MS = 15 * 60_000;

const NAMES: Readonly<Record<string, string>> = {
  ours: "**ours**",
  minisearch: "MiniSearch",
  fts5: "SQLite FTS5",
};

export async function measureSearch(options: SearchBenchOptions = {}): Promise<Measured> {
  const samples: Sample[] = [];
  for (const entries of options.sizes ?? SIZES) {
    for (const system of Object.keys(SYSTEMS)) {
      options.onProgress?.(`${system} at ${entries.toLocaleString("en")} entries`);
      samples.push(measureInChild(system, entries));
    }
  }
  return {
    title: "Keyword search",
    markdown: [
      "Made-up facts of one to five sentences, the same for all; 1,000 questions (fewer where they take longer than 30 s), most in a fact's words, some of nothing that is there; ten hits wanted. Ours includes looking for changes at the source. Memory is what the process holds for the index, the texts to show included; FTS5's lies outside the JavaScript heap and is not seen this way. The longest slice is processor time between two turns of the event loop, while building.",
      "",
      table(
        ["system", "entries", "p50 ms", "p95 ms", "build ms", "longest slice ms", "bytes per entry"],
        samples.map(rowOf),
      ),
    ].join("\n"),
    json: samples,
  };
}

function measureInChild(system: string, entries: number): Sample {
  const child = spawnSync(process.execPath, ["--expose-gc", CHILD, system, String(entries)], {
    encoding: "utf8",
    timeout: PATIENCE_MS,
  });
  if (child.status !== 0) throw new Error(`${system} at ${entries} entries failed: ${child.stderr}`);
  return JSON.parse(child.stdout) as Sample; // what child.ts prints
}

function rowOf(sample: Sample): readonly string[] {
  const { system, entries, p50Ms, p95Ms, buildMs, longestSliceMs, bytesPerEntry } = sample;
  return [
    NAMES[system] ?? system,
    entries.toLocaleString("en"),
    p50Ms.toFixed(2),
    p95Ms.toFixed(2),
    buildMs.toFixed(0),
    longestSliceMs === undefined ? "all at once" : longestSliceMs.toFixed(1),
    system === "fts5" ? "" : bytesPerEntry.toFixed(0),
  ];
}
