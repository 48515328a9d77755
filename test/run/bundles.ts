/**
 * Bundles that all test files of a run share. The first test that needs a bundle creates it. Bundles are in the run's folder
 * next to the native library, so that a process without root's rights can read them.
 */
import { existsSync } from "node:fs";
import { chmod, cp, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { build } from "esbuild";
import { inject } from "vitest";
import { buildCommandLine, REQUIRE, ROOT } from "../../scripts/build/build.ts";

const COMMAND_FOLDER = "command";
const LIBRARY = join("node_modules", "better-sqlite3");
/** Only needed to compile the library, not to run it. */
const LIBRARY_SOURCES = ["deps", "src"];

/** The command that `bin` names; exists after `makeCommand` has resolved. */
export const BUNDLED_COMMAND = join(inject("runFolder"), COMMAND_FOLDER, "helmdeck-memory.mjs");

/** Bundles the command line from the current sources, like for a release. */
export async function makeCommand(): Promise<void> {
  await Promise.all([shared(COMMAND_FOLDER, buildCommandLine), makeLibrary()]);
}

/** Bundles one test script with all its imports; returns the path. */
export async function bundledScript(script: string): Promise<string> {
  const make = async (folder: string): Promise<void> => {
    await build({
      entryPoints: { script },
      outdir: folder,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      format: "esm",
      platform: "node",
      external: ["better-sqlite3", "pg-native"],
      banner: REQUIRE,
      logLevel: "warning",
    });
  };
  const [folder] = await Promise.all([shared(basename(script, ".ts"), make), makeLibrary()]);
  return join(folder, "script.mjs");
}

function makeLibrary(): Promise<string> {
  const from = join(ROOT, LIBRARY);
  return shared("node_modules", (folder) =>
    cp(from, join(folder, basename(LIBRARY)), {
      recursive: true,
      filter: (path) => !LIBRARY_SOURCES.includes(relative(from, path)),
    }),
  );
}

/** If several test files start at once, each creates the bundle, and all use the one that is finished first. */
async function shared(name: string, make: (folder: string) => Promise<unknown>): Promise<string> {
  const place = join(inject("runFolder"), name);
  if (existsSync(place)) return place;
  const making = await mkdtemp(`${place}-`);
  await make(making);
  await openToAll(making);
  await rename(making, place).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    await rm(making, { recursive: true });
  });
  return place;
}

async function openToAll(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  await Promise.all([folder, ...names.map((name) => join(folder, name))].map((path) => chmod(path, 0o755)));
}
