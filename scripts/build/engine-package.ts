/** The npm package `helmdeck-memory` as it is published: the root's, without what is bundled or only development needs. */
import { cp, glob, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The root's package.json, as far as it is taken over. */
export interface EngineManifest {
  readonly name: string;
  readonly version: string;
  /** Paths and patterns with `*` in file names. */
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** All others are in the bundles; this one brings binaries. The build refuses bundles that need another one. */
export const INSTALLED_WITH_IT = "better-sqlite3";
/** What programs import of the package, as package.json's `exports` has it: name in dist, and source. */
export const LIBRARY = { library: "app/library.ts", packs: "packs/library.ts" };
/** What npm packs whether `files` names it or not. */
const ALWAYS = ["README.md", "LICENSE"];

/** What npm reads of the published package: its scripts, and the tools behind them, are this repository's own. */
export function engineManifest(root: EngineManifest): EngineManifest {
  const { scripts: _, devDependencies: __, private: ___, dependencies, ...published } = root;
  const version = dependencies[INSTALLED_WITH_IT];
  if (version === undefined) throw new Error(`package.json does not name ${INSTALLED_WITH_IT}.`);
  return { ...published, dependencies: { [INSTALLED_WITH_IT]: version } };
}

export async function readEngineManifest(root: string): Promise<EngineManifest> {
  return engineManifest(JSON.parse(await readFile(join(root, "package.json"), "utf8")));
}

/** Copies what is published into the folder. */
export async function stageEngine(root: string, folder: string): Promise<EngineManifest> {
  const manifest = await readEngineManifest(root);
  for await (const path of glob([...manifest.files, ...ALWAYS], { cwd: root })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(join(root, path), join(folder, path), { recursive: true });
  }
  // TypeScript is large, and most who import the build need none of it.
  const { writeDeclarations } = await import("./declarations.ts");
  await writeDeclarations(root, LIBRARY, join(folder, "dist"));
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}
