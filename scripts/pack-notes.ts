/** Packs the plugin for OpenClaw's own notes: `npm run -s pack:notes -- DIR` prints the tarball's path as its last line. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { buildAll, NOTES_DIST, readBundled } from "./build/build.ts";
import { packInto, packPackage } from "./pack-package.ts";
import { sbomOfPlugin } from "./supply-chain/sbom.ts";

/** Builds if needed, packs into the folder with the SBOM, and returns the tarball's absolute path. */
export async function packNotesPlugin(folder: string): Promise<string> {
  await buildAll();
  const manifest = JSON.parse(await readFile(join(NOTES_DIST, "package.json"), "utf8"));
  return packPackage(NOTES_DIST, folder, await sbomOfPlugin(manifest, (await readBundled()).notes));
}

if (import.meta.main) await packInto("pack:notes", packNotesPlugin);
