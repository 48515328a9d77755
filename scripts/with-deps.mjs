// Runs an npm script after making sure that the locked dependencies and the pinned Node are there.
// Works on a fresh clone with any Node from 18 on, so it is plain JavaScript with nothing but built-ins.
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const lock = join(root, "package-lock.json");
// Not npm's own copy of the lock: that one is there before the pinned Node is in place.
const stamp = join(root, "node_modules", ".installed-lock.json");
const pinnedNode = join(root, "node_modules", "node", "bin", "node");

const [script, ...args] = process.argv.slice(2);
if (script === undefined) {
  console.error("usage: node scripts/with-deps.mjs <npm script> [args…]");
  process.exit(2);
}
if (!isInstalled()) await install();
await run("npm", ["run", "--silent", script, "--", ...args]);

function isInstalled() {
  return (
    existsSync(pinnedNode) && existsSync(stamp) && readFileSync(stamp, "utf8") === readFileSync(lock, "utf8")
  );
}

async function install() {
  console.error("==> Installing the locked dependencies (once; about a minute)");
  // Scripts stay off (.npmrc): OpenClaw's refuses to run on an older system Node, and nothing else needs one …
  await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
  // … but the pinned Node, whose script puts the right binary for this machine in place.
  await run(
    "npm",
    ["rebuild", "node", "--ignore-scripts=false", "--loglevel=error"],
    ["ignore", "ignore", "inherit"],
  );
  copyFileSync(lock, stamp);
}

/** Ends this process the way the command ended, unless it went well. */
async function run(command, commandArgs, stdio = "inherit") {
  const child = spawn(command, commandArgs, { cwd: root, stdio });
  // Ctrl-C reaches the child by itself; stay until it has cleaned up. Other signals are sent to this process alone.
  const wait = () => {};
  const passOn = (signal) => child.kill(signal);
  process.on("SIGINT", wait);
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, passOn);
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (...ending) => resolve(ending));
  });
  process.off("SIGINT", wait);
  for (const name of ["SIGTERM", "SIGHUP"]) process.off(name, passOn);
  if (signal !== null) process.kill(process.pid, signal);
  else if (code !== 0) process.exit(code);
}
