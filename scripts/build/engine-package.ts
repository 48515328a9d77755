/** The published npm package `helmdeck-memory`: the root package without bundled and development dependencies. */
import { cp, glob, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MODEL_PACKAGE } from "../../model/artefact.ts";
import { repositoryFields } from "./repository.ts";

/** The fields taken from the root's package.json. */
export interface EngineManifest {
  readonly name: string;
  readonly version: string;
  /** Paths and patterns with `*` in file names. */
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** The only dependency that is not bundled, because it has binaries. The build refuses bundles that need another one. */
export const INSTALLED_WITH_IT = "better-sqlite3";
/** The package's entry points in package.json's `exports`: name in dist, and source. */
export const LIBRARY = { library: "app/library.ts", packs: "packs/library.ts" };
/** Files that npm always packs. */
const ALWAYS = ["README.md", "LICENSE"];

/** The published manifest, without the repository's own scripts and tools. The model has a package of its own. */
export function engineManifest(root: EngineManifest): EngineManifest {
  const { scripts: _, devDependencies: __, private: ___, dependencies, ...published } = root;
  const version = dependencies[INSTALLED_WITH_IT];
  if (version === undefined) throw new Error(`package.json does not name ${INSTALLED_WITH_IT}.`);
  return {
    ...published,
    ...repositoryFields(),
    dependencies: { [INSTALLED_WITH_IT]: version, [MODEL_PACKAGE]: root.version },
  };
}

export async function readEngineManifest(root: string): Promise<EngineManifest> {
  return engineManifest(JSON.parse(await readFile(join(root, "package.json"), "utf8")));
}

/** Copies the published files into the folder. */
export async function stageEngine(root: string, folder: string): Promise<EngineManifest> {
  const manifest = await readEngineManifest(root);
  for await (const path of glob([...manifest.files, ...ALWAYS], { cwd: root })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(join(root, path), join(folder, path), {
      recursive: true,
      filter: (source) => source !== join(root, "dist", "model"),
    });
  }
  // TypeScript is large, and most importers of the build do not need it.
  const { writeDeclarations } = await import("./declarations.ts");
  await writeDeclarations(root, LIBRARY, join(folder, "dist"));
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}
