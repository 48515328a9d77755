/** Packs a built package as a tarball, with the SBOM next to it. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { addressFields, REPOSITORY } from "./release/address.ts";
import type { Sbom } from "./supply-chain/sbom.ts";

/** Packs the package in `from` into the folder and returns the tarball's absolute path. */
export function packPackage(from: string, folder: string, sbom: Sbom): string {
  const destination = resolve(folder);
  mkdirSync(destination, { recursive: true });
  const packed = withAddress(join(from, "package.json"), () =>
    spawnSync("npm", ["pack", "--silent", "--pack-destination", destination], {
      cwd: from,
      encoding: "utf8",
    }),
  );
  const name = packed.stdout?.trim().split("\n").at(-1);
  if (packed.status !== 0 || !name)
    throw new Error(`npm pack failed: ${packed.stderr || packed.error?.message}`);
  const tarball = join(destination, name);
  writeFileSync(sbomBeside(tarball), `${JSON.stringify(sbom, null, 2)}\n`);
  return tarball;
}

/** The manifest names the repository while it is packed. A build may use the folder again, so it is put back. */
function withAddress<Packed>(path: string, pack: () => Packed): Packed {
  const manifest = readFileSync(path, "utf8");
  const named = { ...JSON.parse(manifest), ...addressFields(process.env[REPOSITORY]) };
  writeFileSync(path, `${JSON.stringify(named, null, 2)}\n`);
  try {
    return pack();
  } finally {
    writeFileSync(path, manifest);
  }
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
