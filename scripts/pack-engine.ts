/** Packs the engine and its commands: `npm run -s pack:engine -- DIR` prints the tarball's path as its last line. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildAll, ROOT, readBundled } from "./build/build.ts";
import { stageEngine } from "./build/engine-package.ts";
import { packInto, packPackage } from "./pack-package.ts";
import { sbomOfEngine } from "./supply-chain/sbom.ts";

/** Builds if needed, packs into the folder with the SBOM, and returns the tarball's absolute path. */
export async function packEngine(folder: string): Promise<string> {
  await buildAll();
  const { plugin, commands } = await readBundled();
  const staged = await mkdtemp(join(tmpdir(), "helmdeck-memory-pack-"));
  try {
    const manifest = await stageEngine(ROOT, staged);
    return packPackage(staged, folder, await sbomOfEngine(manifest, [...plugin, ...commands]));
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

if (import.meta.main) await packInto("pack:engine", packEngine);
