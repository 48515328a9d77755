/**
 * The operator's own packs: each `.mjs` and `.js` file of a folder is an ES module whose default export is a pack, a list of packs,
 * or a function that makes them of what it is given.
 *
 * Who attacks: another account of the machine that can write where code is loaded from. What stops it: {@link PathGuard}, for the
 * folder and everything below it, before any of it is loaded. The packs themselves are trusted: they are code of the operator's.
 */
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import * as z from "zod";
import { HelmdeckError, harmlessLine, isHelmdeckError, systemCodeOf } from "../../engine/index.ts";
import { definePack } from "../engine/define-pack.ts";
import type { Pack } from "../engine/pack-contract.ts";
import { PackFailure } from "../engine/pack-failure.ts";
import { registerPacks } from "../engine/pack-registry.ts";
import { PathGuard } from "./guarded-path.ts";

const MODULE = /\.m?js$/;
const MOST_FILES = 200;
const REASON_CHARACTERS = 300;
/** Of the packs that ship, among them those that are listed as memory. */
const RESERVED = "helmdeck.";

/** What a module's function is given, so that it needs no package of its own. */
export interface PackMakerContext {
  readonly z: typeof z;
  /** Checks the pack at once, and infers the types of its `run` from its schemas. */
  readonly definePack: typeof definePack;
  /** To be thrown by a run that failed: what a caller is told, and what it has to show, such as `{ lint: { findings } }`. */
  readonly failure: (message: string, output?: unknown) => Error;
}

/** The default export of a module that makes its packs of what it is given. */
export type PackMaker = (given: PackMakerContext) => Pack | readonly Pack[] | Promise<Pack | readonly Pack[]>;

const MAKER_CONTEXT: PackMakerContext = {
  z,
  definePack,
  failure: (message, output) => new PackFailure(message, output),
};

/**
 * In order of file. Throws `invalid_input` naming the file and what is wrong: a server that quietly leaves a pack out would look
 * whole. `taken`: names of packs that there are.
 */
export async function loadPacks(folder: string, taken: ReadonlySet<string>): Promise<readonly Pack[]> {
  const guard = new PathGuard();
  const root = await requireGuarded(guard, folder);
  await requireGuardedBelow(guard, root);
  const owners = new Map([...taken].map((name) => [name, "a pack that ships"]));
  const packs: Pack[] = [];
  for (const file of await modulesIn(root)) {
    for (const pack of await packsOf(file)) {
      const owner = owners.get(pack.name);
      if (owner !== undefined)
        throw refuse(file, `has a pack with the name ${pack.name}, which ${owner} has`);
      owners.set(pack.name, basename(file));
      packs.push(pack);
    }
  }
  return packs;
}

async function modulesIn(root: string): Promise<readonly string[]> {
  const names = (await readdir(root, { withFileTypes: true }))
    .filter((entry) => !entry.isDirectory() && MODULE.test(entry.name))
    .map(({ name }) => name);
  if (names.length === 0) throw refuse(root, "holds no pack: no .mjs or .js file is in it");
  if (names.length > MOST_FILES)
    throw refuse(root, `holds ${names.length} modules, and may hold ${MOST_FILES}`);
  return names.sort().map((name) => join(root, name));
}

async function packsOf(file: string): Promise<readonly Pack[]> {
  const given = await exported(file);
  const packs: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (packs.length === 0) throw refuse(file, "makes an empty list of packs");
  return packs.map((pack) => requirePack(file, pack));
}

async function exported(file: string): Promise<unknown> {
  try {
    const { default: given }: { readonly default?: unknown } = await import(pathToFileURL(file).href);
    return typeof given === "function" ? await given(MAKER_CONTEXT) : given;
  } catch (error) {
    throw refuse(file, `cannot be loaded: ${reasonOf(error)}`, error);
  }
}

function requirePack(file: string, given: unknown): Pack {
  if (typeof given !== "object" || given === null || !("name" in given)) {
    throw refuse(
      file,
      "must have as its default export a pack, a list of packs, or a function that makes them",
    );
  }
  const pack = given as Pack; // each of its fields is checked next
  try {
    registerPacks([pack], false);
  } catch (error) {
    throw refuse(file, `has a pack that cannot be used: ${reasonOf(error)}`, error);
  }
  if (pack.name.startsWith(RESERVED)) {
    throw refuse(
      file,
      `has a pack with the name ${pack.name}: names under ${RESERVED} are those of packs that ship`,
    );
  }
  return pack;
}

async function requireGuarded(guard: PathGuard, path: string): Promise<string> {
  const examined = await guard.examine(path).catch((error: unknown) => {
    throw refuse(path, `cannot be looked at (${systemCodeOf(error)})`, error);
  });
  if (examined.problem === undefined) return examined.path;
  throw refuse(examined.problem.path, `${examined.problem.rule}; no pack was loaded`);
}

/** Modules import what lies beside and below them. */
async function requireGuardedBelow(guard: PathGuard, folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw refuse(folder, "is not a folder of packs that can be read", error);
  });
  for (const entry of entries) {
    const path = join(folder, entry.name);
    await requireGuarded(guard, path);
    if (entry.isDirectory()) await requireGuardedBelow(guard, path);
  }
}

/** The file is the operator's, and what its own code says is no secret. */
function reasonOf(error: unknown): string {
  const text =
    error instanceof Error ? `${isHelmdeckError(error) ? "" : `${error.name}: `}${error.message}` : "";
  return harmlessLine(text || "it threw what is no error")
    .slice(0, REASON_CHARACTERS)
    .replace(/\.$/, "");
}

function refuse(path: string, rule: string, cause?: unknown): HelmdeckError {
  return new HelmdeckError("invalid_input", `${path} ${rule}.`, { details: { file: path }, cause });
}
