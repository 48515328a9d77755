// Runs an npm script, or a program, after installing the locked dependencies and the pinned Node if needed.
// Works on a fresh clone with Node 18 or later, so it is plain JavaScript without dependencies.
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const lock = join(root, "package-lock.json");
const npmsLock = join(root, "node_modules", ".package-lock.json");
// In addition to npm's own copy of the lock, which exists before the pinned Node does.
const stamp = join(root, "node_modules", ".installed-lock.json");
const pinnedNode = join(root, "node_modules", "node", "bin", "node");
// The same path as for npm scripts: the pinned Node comes before the system's.
const PATH = [join(root, "node_modules", ".bin"), process.env.PATH ?? ""].join(delimiter);

const [script, ...args] = process.argv.slice(2);
const [program, ...programArgs] = args;
if (script === undefined || (script === "--exec" && program === undefined)) {
  console.error("usage: node scripts/with-deps.mjs <npm script> [args…]");
  console.error("       node scripts/with-deps.mjs --exec <program> [args…]");
  process.exit(2);
}
if (!isInstalled()) await install();
if (script === "--exec") await run(program, programArgs);
else await run("npm", ["run", "--silent", script, "--", ...args]);

function isInstalled() {
  return (
    existsSync(pinnedNode) && existsSync(stamp) && readFileSync(stamp, "utf8") === readFileSync(lock, "utf8")
  );
}

async function install() {
  // Install scripts stay disabled (.npmrc): OpenClaw's refuses to run on an older system Node, and no other package needs one …
  if (!hasLockedPackages()) {
    const done = saying("Installing the locked dependencies (once; about a minute)");
    await run("npm", [
      "ci",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      "--no-progress",
    ]);
    done();
  }
  // … except the pinned Node, whose script installs the right binary for this machine.
  const done = saying("Fetching the pinned Node (once)");
  await run(
    "npm",
    ["rebuild", "node", "--ignore-scripts=false", "--loglevel=error"],
    ["ignore", "ignore", "inherit"],
  );
  done();
  copyFileSync(lock, stamp);
}

/** Shows the elapsed time on a terminal. Returns a function that ends it. */
function saying(text) {
  const { stderr } = process;
  if (!stderr.isTTY) {
    stderr.write(`==> ${text}\n`);
    return () => {};
  }
  const began = Date.now();
  const line = () => stderr.write(`\r==> ${text} ${Math.round((Date.now() - began) / 1_000)} s`);
  line();
  const timer = setInterval(line, 1_000);
  return () => {
    clearInterval(timer);
    stderr.write("\n");
  };
}

/** True after a manual `npm ci`: npm's copy of the lock, written last, lists all packages except those for other platforms. */
function hasLockedPackages() {
  if (!existsSync(npmsLock)) return false;
  const installed = packagesOf(npmsLock);
  return Object.entries(packagesOf(lock)).every(([path, { version, integrity, optional }]) => {
    const there = installed[path];
    if (there === undefined) return path === "" || optional === true;
    return there.version === version && there.integrity === integrity;
  });
}

function packagesOf(file) {
  return JSON.parse(readFileSync(file, "utf8")).packages;
}

/** Ends this process like the command, unless it succeeded. */
async function run(command, commandArgs, stdio = "inherit") {
  const child = spawn(command, commandArgs, { cwd: root, stdio, env: { ...process.env, PATH } });
  // Ctrl-C reaches the child directly; wait until it has cleaned up. Other signals reach only this process.
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
