/** Packs what is published: `npm run -s pack:engine -- DIR` prints the tarball's path as its last line. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buildAll, MODEL_DIST, NOTES_DIST, PLUGIN_DIST, ROOT, readBundled } from "./build/build.ts";
import { stageEngine } from "./build/engine-package.ts";
import { type Sbom, sbomOfEngine, sbomOfModel, sbomOfPlugin } from "./supply-chain/sbom.ts";

/** Builds if needed, packs into the folder with the SBOM, and returns the tarball's absolute path. */
type Pack = (folder: string) => Promise<string>;

const PLUGIN_MAX_BYTES = 3_000_000;

/** The engine and its commands. */
export const packEngine: Pack = async (folder) => {
  await buildAll();
  const { plugin, commands } = await readBundled();
  const staged = await mkdtemp(join(tmpdir(), "helmdeck-memory-pack-"));
  try {
    const manifest = await stageEngine(ROOT, staged);
    return packPackage(staged, folder, await sbomOfEngine(manifest, [...plugin, ...commands]));
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
};

/** The built-in model. */
export const packModel: Pack = async (folder) => {
  await buildAll();
  return packPackage(MODEL_DIST, folder, await sbomOfModel(manifestIn(MODEL_DIST)));
};

/** The plugin for OpenClaw's own notes. */
export const packNotesPlugin: Pack = async (folder) => {
  await buildAll();
  const { notes } = await readBundled();
  return packPackage(NOTES_DIST, folder, await sbomOfPlugin(manifestIn(NOTES_DIST), notes));
};

export const packPlugin: Pack = async (folder) => {
  await buildAll();
  const { plugin } = await readBundled();
  const tarball = packPackage(PLUGIN_DIST, folder, await sbomOfPlugin(manifestIn(PLUGIN_DIST), plugin));
  const { size } = statSync(tarball);
  if (size <= PLUGIN_MAX_BYTES) return tarball;
  throw new Error(`${tarball} has ${size} bytes; the limit for the plugin is ${PLUGIN_MAX_BYTES}.`);
};

function manifestIn(dist: string) {
  return JSON.parse(readFileSync(join(dist, "package.json"), "utf8"));
}

function packPackage(from: string, folder: string, sbom: Sbom): string {
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

/** By name, in package.json: `pack:engine`. */
const PACKS: Readonly<Record<string, Pack>> = {
  engine: packEngine,
  model: packModel,
  notes: packNotesPlugin,
  plugin: packPlugin,
};

async function main([name = "", folder]: readonly string[]): Promise<void> {
  const pack = PACKS[name];
  if (pack !== undefined && folder !== undefined) return console.log(await pack(folder));
  console.error(`usage: npm run -s pack:(${Object.keys(PACKS).join("|")}) -- DIR`);
  process.exitCode = 2;
}

if (import.meta.main) await main(process.argv.slice(2));
