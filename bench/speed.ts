/** `npm run bench:speed [-- --only NAME] [--write]`: measures search, store, command and plugin, each compared with its alternatives in one run. */
import { parseArgs } from "node:util";
import { measureCli } from "./bench-cli.ts";
import { measureHooks } from "./bench-hooks.ts";
import { keepRaw, showSection, writeSection } from "./bench-report.ts";
import { measureStore } from "./bench-store.ts";
import { measureBuiltInModel } from "./embedder/built-in-model.ts";
import type { Measured } from "./measured.ts";
import { measurePlugin } from "./plugin/bench-plugin.ts";
import { measureMany } from "./search/bench-many.ts";
import { measureSearch } from "./search/bench-search.ts";
import { measureVectors } from "./vectors/bench-vectors.ts";

const onProgress = (message: string): void => console.error(`… ${message}`);

const PARTS: Readonly<Record<string, () => Promise<Measured>>> = {
  search: () => measureSearch(onProgress),
  many: () => measureMany(),
  vectors: () => measureVectors(onProgress),
  store: () => measureStore(),
  cli: () => measureCli(),
  hooks: () => measureHooks(),
  plugin: () => measurePlugin({ onProgress }),
  model: () => measureBuiltInModel(onProgress),
};

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: "string" }, write: { type: "boolean", default: false } },
  });
  const names = values.only === undefined ? Object.keys(PARTS) : [values.only];
  const sections: Measured[] = [];
  for (const name of names) {
    const measure = PARTS[name];
    if (measure === undefined) throw new Error(`--only takes one of: ${Object.keys(PARTS).join(", ")}.`);
    onProgress(name);
    const section = await measure();
    showSection(section);
    if (values.write) writeSection(section);
    sections.push(section);
  }
  console.log(`\nRaw figures: ${keepRaw("speed", sections)}`);
}

await main();
