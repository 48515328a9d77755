/** Packs the plugin for installation: `npm run -s pack:plugin -- DIR` prints the tarball's path as its last line. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { buildAll, PLUGIN_DIST, readBundled } from "./build/build.ts";
import { packInto, packPackage } from "./pack-package.ts";
import { sbomOfPlugin } from "./supply-chain/sbom.ts";

const TARBALL_MAX_BYTES = 3_000_000;

/** Builds if needed, packs into the folder with the SBOM, and returns the tarball's absolute path. */
export async function packPlugin(folder: string): Promise<string> {
  await buildAll();
  const description = JSON.parse(readFileSync(join(PLUGIN_DIST, "package.json"), "utf8"));
  const tarball = packPackage(
    PLUGIN_DIST,
    folder,
    await sbomOfPlugin(description, (await readBundled()).plugin),
  );
  const { size } = statSync(tarball);
  if (size > TARBALL_MAX_BYTES) {
    throw new Error(`${tarball} has ${size} bytes; the limit for the plugin is ${TARBALL_MAX_BYTES}.`);
  }
  return tarball;
}

if (import.meta.main) await packInto("pack:plugin", packPlugin);
