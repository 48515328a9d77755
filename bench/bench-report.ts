/** Where figures go: the terminal, raw files that git ignores, and docs/benchmarks.md, each with machine and date. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, platform, release, totalmem } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Measured } from "./measured.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DOCUMENT = join(ROOT, "docs", "benchmarks.md");
/** Ignored by git. */
export const RAW_FOLDER = join(ROOT, "bench", "results");

const PREAMBLE = `# Benchmarks

Made by \`npm run bench:recall -- --embedder URL --write\`, \`npm run bench:host -- --write\` and \`npm run bench:speed -- --write\`;
each section says where and when, and [howto/measure-recall.md](howto/measure-recall.md) how to repeat it. Do not edit the figures by
hand. What they are worth is said with each table; a busy machine shows in the p95.
`;

export function showSection({ title, markdown }: Measured): void {
  console.log(`\n## ${title}\n\n${markdown}`);
}

/** Writes the raw figures and answers where, relative to the repository. */
export function keepRaw(name: string, sections: readonly Measured[]): string {
  mkdirSync(RAW_FOLDER, { recursive: true });
  const path = join(RAW_FOLDER, `${name}-${new Date().toISOString().replace(/[:.]/g, "-")}.json`);
  writeFileSync(path, JSON.stringify({ machine: describeMachine(), sections }, null, 1));
  return relative(ROOT, path);
}

/** Puts the section into docs/benchmarks.md, in the place of an older one with the same title. */
export function writeSection({ title, markdown, picture }: Measured): void {
  const document = existsSync(DOCUMENT) ? readFileSync(DOCUMENT, "utf8") : PREAMBLE;
  const [begin, end] = markersOf(title);
  const today = new Date().toISOString().slice(0, 10);
  const section = `${begin}\n## ${title}\n\n${today}, ${describeMachine()}.\n\n${markdown}\n${end}`;
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  const written =
    from === -1 || to === -1
      ? `${document.trimEnd()}\n\n${section}\n`
      : document.slice(0, from) + section + document.slice(to + end.length);
  writeFileSync(DOCUMENT, written);
  if (picture !== undefined) writeFileSync(join(DOCUMENT, "..", picture.name), picture.svg);
}

function markersOf(title: string): readonly [begin: string, end: string] {
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return [`<!-- begin ${name} -->`, `<!-- end ${name} -->`];
}

/** No host name, no path: what a reader needs to judge the figures. */
export function describeMachine(): string {
  const processors = cpus();
  const model = processors[0]?.model.trim().replace(/\s+/g, " ") ?? "unknown processor";
  const memoryGb = Math.round(totalmem() / 2 ** 30);
  return `${model}, ${processors.length} cores, ${memoryGb} GB, Node ${process.version}, ${platform()} ${release()} ${arch()}`;
}
