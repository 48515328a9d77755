/** The files to check: every source file outside of the seam, the tests and the consumers. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SOURCE = /\.(?:[cm]?[jt]s|[jt]sx)$/;
/** Third-party or generated. */
const SKIPPED = new Set(["node_modules", ".git"]);
const IS_BUILT = /^\.?dist(?:-[^/]*)?$/;

/** The reviewed list of modules that may import the seam. */
export function readConsumers(root: string): readonly string[] {
  const parsed: unknown = JSON.parse(readFileSync(join(root, "scripts", "seam-consumers.json"), "utf8"));
  if (Array.isArray(parsed) && parsed.every((name) => typeof name === "string" && /^[a-z]+$/.test(name)))
    return parsed;
  throw new Error("scripts/seam-consumers.json must be a list of modules.");
}

/** Paths below the root, links to files included. */
export function filesToCheck(root: string, consumers: readonly string[]): readonly string[] {
  const excepted = new Set(["seam", "test", ...consumers]);
  const isSkipped = (path: string): boolean => excepted.has(path) || IS_BUILT.test(path);
  const found = filesUnder(root, "", isSkipped);
  if (found.length === 0) throw new Error(`there is no source file in ${root}.`);
  return found.sort();
}

function filesUnder(root: string, folder: string, isSkipped: (path: string) => boolean): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (SKIPPED.has(entry.name) || isSkipped(path)) return [];
    if (entry.isDirectory()) return filesUnder(root, path, isSkipped);
    return SOURCE.test(entry.name) ? [path] : [];
  });
}
