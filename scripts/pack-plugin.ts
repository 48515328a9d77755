/** Packs the plugin as a user installs it: `npm run -s pack:plugin -- DIR` prints the tarball's path as its last line. */
import { spawnSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildAll, PLUGIN_DIST } from "./build/build.ts";

const TARBALL_MAX_BYTES = 3_000_000;

/** Builds what is out of date, packs it into the folder and gives the tarball's absolute path. */
export async function packPlugin(folder: string): Promise<string> {
  await buildAll();
  const destination = resolve(folder);
  mkdirSync(destination, { recursive: true });
  const packed = spawnSync("npm", ["pack", "--silent", "--pack-destination", destination], {
    cwd: PLUGIN_DIST,
    encoding: "utf8",
  });
  const name = packed.stdout?.trim().split("\n").at(-1);
  if (packed.status !== 0 || !name)
    throw new Error(`npm pack failed: ${packed.stderr || packed.error?.message}`);
  const tarball = join(destination, name);
  const { size } = statSync(tarball);
  if (size > TARBALL_MAX_BYTES) {
    throw new Error(`${tarball} has ${size} bytes; the plugin may have ${TARBALL_MAX_BYTES}.`);
  }
  return tarball;
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) {
    console.error("usage: npm run -s pack:plugin -- DIR");
    process.exit(2);
  }
  console.log(await packPlugin(folder));
}
