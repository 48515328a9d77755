// Runs an npm script after making sure that the locked dependencies and the pinned Node are there.
// Works on a fresh clone with any Node from 18 on, so it is plain JavaScript with nothing but built-ins.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const [script, ...args] = process.argv.slice(2);
if (script === undefined) {
  console.error("usage: node scripts/with-deps.mjs <npm script> [args…]");
  process.exit(2);
}

const lock = join(root, "package-lock.json");
// Outside what npm itself writes: npm's own copy of the lock exists before the pinned Node is in place.
const stamp = join(root, "node_modules", ".installed-lock.json");
const pinnedNode = join(root, "node_modules", "node", "bin", "node");

if (!isInstalled()) {
  console.error("==> Installing the locked dependencies (once; about a minute)");
  // Scripts stay off (.npmrc): OpenClaw's refuses to run on an older system Node, and nothing else needs one …
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
  // … but the pinned Node, whose script puts the right binary for this machine in place.
  run(
    "npm",
    ["rebuild", "node", "--ignore-scripts=false", "--loglevel=error"],
    ["ignore", "ignore", "inherit"],
  );
  copyFileSync(lock, stamp);
}
run("npm", ["run", "--silent", script, "--", ...args]);

function isInstalled() {
  return (
    existsSync(pinnedNode) && existsSync(stamp) && readFileSync(stamp, "utf8") === readFileSync(lock, "utf8")
  );
}

function run(command, commandArgs, stdio = "inherit") {
  const result = spawnSync(command, commandArgs, { cwd: root, stdio });
  if (result.error) throw result.error;
  if (result.status !== 0) process.exit(result.status ?? 1);
}
