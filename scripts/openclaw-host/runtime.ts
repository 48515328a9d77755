/** The OpenClaw and Node that a home runs: the locked ones, or others installed into a folder. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

export interface OpenClawRuntime {
  readonly version: string;
  /** OpenClaw's executable. */
  readonly entry: string;
  /** The Node that runs it. */
  readonly node: string;
}

/** The pinned OpenClaw, on the current Node. */
export const LOCKED_OPENCLAW: OpenClawRuntime = runtimeIn(import.meta.url, process.execPath);

/** Versions of the two packages, such as 2026.8.1 and 22.22.3. */
export interface RuntimeVersions {
  readonly openclaw: string;
  readonly node: string;
}

/** Installs both from the registry, without install scripts: about a minute, 900 MB. */
export async function installOpenClaw(versions: RuntimeVersions, folder: string): Promise<OpenClawRuntime> {
  const nodePackage = `node-${process.platform}-${process.arch}`;
  const wanted = [`openclaw@${versions.openclaw}`, `${nodePackage}@${versions.node}`];
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await promisify(execFile)("npm", ["install", "--prefix", folder, ...quiet, ...wanted]);
  return runtimeIn(join(folder, "package.json"), join(folder, "node_modules", nodePackage, "bin", "node"));
}

function runtimeIn(from: string, node: string): OpenClawRuntime {
  const entry = createRequire(from).resolve("openclaw/cli-entry");
  const { version } = JSON.parse(readFileSync(join(dirname(entry), "package.json"), "utf8"));
  return { version, entry, node };
}
