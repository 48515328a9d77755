/** Packs the engine and its commands: `npm run -s pack:engine -- DIR` prints the tarball's path as its last line. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildAll, ROOT, readBundled } from "./build/build.ts";
import { packInto, packPackage } from "./pack-package.ts";
import { sbomOfEngine } from "./supply-chain/sbom.ts";

/** Builds what is out of date, packs it into the folder, with its SBOM, and gives the tarball's absolute path. */
export async function packEngine(folder: string): Promise<string> {
  await buildAll();
  const description = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const { plugin, commands } = await readBundled();
  return packPackage(ROOT, folder, await sbomOfEngine(description, [...plugin, ...commands]));
}

if (import.meta.main) await packInto("pack:engine", packEngine);
