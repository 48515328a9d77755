/**
 * Draws the current modules and their imports into docs/architecture.md.
 *
 *   node scripts/module-picture.ts           writes the picture
 *   node scripts/module-picture.ts --check   exit 1 if the picture is out of date
 */
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DOCUMENT = "docs/architecture.md";
const MODULES = [
  "engine",
  "recall",
  "sidecar",
  "model",
  "app",
  "packs",
  "seam",
  "server",
  "pages",
  "commands",
  "plugin",
  "cli",
  "install",
];
const BEGIN = "<!-- modules: made by `npm run docs:modules` -->";
const END = "<!-- modules: end -->";

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
  const picture = await drawModules();
  await bringUpToDate(picture, values.check);
}

async function bringUpToDate(picture: string, onlyChecks: boolean): Promise<void> {
  const file = join(ROOT, DOCUMENT);
  const before = await readFile(file, "utf8");
  const after = withPicture(before, picture);
  if (after === before) return;
  if (!onlyChecks) return writeFile(file, after);
  console.error(`${DOCUMENT} has an outdated module picture: run \`npm run docs:modules\`.`);
  process.exitCode = 1;
}

/** Mermaid, one arrow for each module that imports another. */
async function drawModules(): Promise<string> {
  const onlyModules = `^(${MODULES.join("|")})`;
  const asModules = ["--include-only", onlyModules, "--collapse", "^[^/]+", "--output-type", "text"];
  const depcruise = join(ROOT, "node_modules", "dependency-cruiser", "bin", "dependency-cruiser.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [depcruise, ...MODULES, ...asModules], {
    cwd: ROOT,
  });
  const arrows = [...stdout.matchAll(/^(\w+) → (\w+)$/gm)].map(([, from, to]) => `  ${from} --> ${to}`);
  if (arrows.length === 0) throw new Error("dependency-cruiser found no imports between modules");
  return ["```mermaid", "flowchart BT", ...arrows.sort(), "```"].join("\n");
}

function withPicture(text: string, picture: string): string {
  const [start, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (start === -1 || end < start) throw new Error(`${DOCUMENT} has no place for the picture: ${BEGIN}`);
  return `${text.slice(0, start + BEGIN.length)}\n${picture}\n${text.slice(end)}`;
}

await main();
