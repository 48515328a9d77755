/** `npm run bench:speed -- --help`: measures search, store, command and plugin, each compared with its alternatives in one run. */
import { measureCli } from "./bench-cli.ts";
import { measureHooks } from "./bench-hooks.ts";
import { runBench, WRITE } from "./bench-options.ts";
import { keepRaw, showSection, writeSection } from "./bench-report.ts";
import { measureStore } from "./bench-store.ts";
import { measureBuiltInModel } from "./embedder/built-in-model.ts";
import type { Measured } from "./measured.ts";
import { measurePlugin } from "./plugin/bench-plugin.ts";
import { measureMany } from "./search/bench-many.ts";
import { measureSearch } from "./search/bench-search.ts";
import { measureVectors } from "./vectors/bench-vectors.ts";

const onProgress = (message: string): void => console.error(`… ${message}`);

const PARTS = {
  search: () => measureSearch(onProgress),
  many: () => measureMany(),
  vectors: () => measureVectors(onProgress),
  store: () => measureStore(),
  cli: () => measureCli(),
  hooks: () => measureHooks(),
  plugin: () => measurePlugin({ onProgress }),
  model: () => measureBuiltInModel(onProgress),
};

const BENCH = {
  script: "bench:speed",
  about: "Measures search, store, command and plugin, each beside its alternatives.",
  options: {
    only: { type: "string", value: "PART", choices: Object.keys(PARTS), about: "one part" },
    write: WRITE,
  },
} as const;

await runBench(BENCH, async ({ only, write }) => {
  const sections: Measured[] = [];
  for (const [name, measure] of Object.entries(PARTS)) {
    if (only !== undefined && name !== only) continue;
    onProgress(name);
    const section = await measure();
    showSection(section);
    if (write) writeSection(section);
    sections.push(section);
  }
  console.log(`\nRaw figures: ${keepRaw("speed", sections)}`);
});
