/** Writes figures to the terminal, to raw files that git ignores, and to docs/benchmarks.md, with machine and date. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, platform, release, totalmem } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Measured } from "./measured.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DOCUMENT = join(ROOT, "docs", "benchmarks.md");
export const RAW_FOLDER = join(ROOT, "bench", "results");

export function showSection({ title, markdown, details }: Measured): void {
  console.log([`\n## ${title}`, markdown, ...(details === undefined ? [] : [details])].join("\n\n"));
}

/** Writes the raw figures. Returns the path of the file, relative to the repository. */
export function keepRaw(name: string, sections: readonly Measured[]): string {
  mkdirSync(RAW_FOLDER, { recursive: true });
  const path = join(RAW_FOLDER, `${name}-${new Date().toISOString().replace(/[:.]/g, "-")}.json`);
  writeFileSync(path, JSON.stringify({ machine: describeMachine(), sections }, null, 1));
  return relative(ROOT, path);
}

/** Puts the section into docs/benchmarks.md. Replaces an older section with the same title. */
export function writeSection({ title, command, markdown, picture }: Measured): void {
  const document = readFileSync(DOCUMENT, "utf8");
  const [begin, end] = markersOf(title);
  const today = new Date().toISOString().slice(0, 10);
  const section = `${begin}\n## ${title}\n\n\`${command}\`, ${today}, ${describeMachine()}.\n\n${markdown}\n${end}`;
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

/** The details that a reader needs to judge the figures. Contains no host name and no path. */
export function describeMachine(): string {
  const processors = cpus();
  const model = processors[0]?.model.trim().replace(/\s+/g, " ") ?? "unknown processor";
  const memoryGb = Math.round(totalmem() / 2 ** 30);
  return `${model}, ${processors.length} cores, ${memoryGb} GB, Node ${process.version}, ${platform()} ${release()} ${arch()}`;
}
