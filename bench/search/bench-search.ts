/** Compares keyword search with MiniSearch and SQLite FTS5 at three sizes. Each system and size runs in a separate process. */

import { fileURLToPath } from "node:url";
import { type Measured, table } from "../measured.ts";
import { measureInChild } from "../processes.ts";
import type { Sample } from "./search-child.ts";
import { SYSTEMS } from "./search-systems.ts";

const SIZES = [1_000, 10_000, 100_000];
const CHILD = fileURLToPath(new URL("search-child.ts", import.meta.url));

const NAMES: Readonly<Record<string, string>> = {
  ours: "**ours**",
  minisearch: "MiniSearch",
  fts5: "SQLite FTS5",
};

export async function measureSearch(onProgress: (message: string) => void): Promise<Measured> {
  const samples: Sample[] = [];
  for (const entries of SIZES) {
    for (const system of Object.keys(SYSTEMS)) {
      onProgress(`${system} at ${entries.toLocaleString("en")} entries`);
      samples.push(measureInChild<Sample>(CHILD, system, String(entries)));
    }
  }
  return {
    title: "Keyword search",
    command: "npm run bench:speed -- --only search",
    markdown: [
      "The keyword index beside two common ones, all filled with the same generated facts of one to five sentences. 1,000 questions (fewer if they take longer than 30 s), most in a fact's words, some unanswerable; ten hits each. Our times include the check for new changes. Longest slice: the longest time that building the index blocks the event loop. Bytes per entry: the index with its texts in the JavaScript heap; FTS5 keeps its index outside.",
      "",
      table(
        ["system", "entries", "p50 ms", "p95 ms", "build ms", "longest slice ms", "bytes per entry"],
        samples.map(rowOf),
      ),
    ].join("\n"),
    json: samples,
  };
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
