/** Packs a built package as a tarball, with the SBOM next to it. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Sbom } from "./supply-chain/sbom.ts";

/** Packs the package in `from` into the folder and returns the tarball's absolute path. */
export function packPackage(from: string, folder: string, sbom: Sbom): string {
  const destination = resolve(folder);
  mkdirSync(destination, { recursive: true });
  const packed = spawnSync("npm", ["pack", "--silent", "--pack-destination", destination], {
    cwd: from,
    encoding: "utf8",
  });
  const name = packed.stdout?.trim().split("\n").at(-1);
  if (packed.status !== 0 || !name)
    throw new Error(`npm pack failed: ${packed.stderr || packed.error?.message}`);
  const tarball = join(destination, name);
  writeFileSync(sbomBeside(tarball), `${JSON.stringify(sbom, null, 2)}\n`);
  return tarball;
}

export function sbomBeside(tarball: string): string {
  return tarball.replace(/\.tgz$/, ".cdx.json");
}

/** Runs a pack command: its last line is the tarball's path. */
export async function packInto(script: string, pack: (folder: string) => Promise<string>): Promise<void> {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) {
    console.error(`usage: npm run -s ${script} -- DIR`);
    process.exitCode = 2;
    return;
  }
  console.log(await pack(folder));
}
