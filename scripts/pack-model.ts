/** Packs the built-in model: `npm run -s pack:model -- DIR` prints the tarball's path as its last line. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { buildAll, MODEL_DIST } from "./build/build.ts";
import { packInto, packPackage } from "./pack-package.ts";
import { sbomOfModel } from "./supply-chain/sbom.ts";

/** Builds if needed, packs into the folder with the SBOM, and returns the tarball's absolute path. */
export async function packModel(folder: string): Promise<string> {
  await buildAll();
  const manifest = JSON.parse(await readFile(join(MODEL_DIST, "package.json"), "utf8"));
  return packPackage(MODEL_DIST, folder, await sbomOfModel(manifest));
}

if (import.meta.main) await packInto("pack:model", packModel);
