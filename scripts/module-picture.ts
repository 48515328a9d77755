/**
 * Draws the modules and their imports, as they are, into docs/architecture.md.
 *
 *   node scripts/module-picture.ts           writes the picture
 *   node scripts/module-picture.ts --check   exit 1 when the picture there is not the present one
 */
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DOCUMENT = join(ROOT, "docs", "architecture.md");
const MODULES = [
  "engine",
  "recall",
  "sidecar",
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
  const before = await readFile(DOCUMENT, "utf8");
  const after = withPicture(before, await drawModules());
  if (after === before) return;
  if (!values.check) return writeFile(DOCUMENT, after);
  console.error("docs/architecture.md shows other imports than there are: run `npm run docs:modules`.");
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

function withPicture(document: string, picture: string): string {
  const [start, end] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (start === -1 || end < start) throw new Error(`${DOCUMENT} has no place for the picture: ${BEGIN}`);
  return `${document.slice(0, start + BEGIN.length)}\n${picture}\n${document.slice(end)}`;
}

await main();
