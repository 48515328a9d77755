/**
 * Loads the operator's own packs: each `.mjs` and `.js` file of a folder is an ES module whose default export is a pack, a list
 * of packs, or a function that returns them.
 *
 * Threat: another account on the machine can write to the folder. Defence: {@link PathGuard} checks the folder and everything
 * below it before any code is loaded. The packs themselves are trusted: they are the operator's code.
 */

import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import * as z from "zod";
import { HelmdeckError, isHelmdeckError, systemCodeOf } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { PathGuard } from "../../engine/given-file.ts";
import { definePack, PackFailure, registerPacks } from "../engine/define-pack.ts";
import type { Pack } from "../engine/pack-contract.ts";

const MODULE = /\.m?js$/;
const MOST_FILES = 200;
const REASON_CHARACTERS = 300;
/** Reserved for shipped packs, including memory's own tools. */
const RESERVED = "helmdeck.";

/** The argument of a module's function, so that the module needs no dependencies. */
export interface PackMakerContext {
  readonly z: typeof z;
  /** Validates the pack at once, and infers the types of its `run` from its schemas. */
  readonly definePack: typeof definePack;
  /** An error to throw from a failed run: the message for the caller, and the run's output, such as `{ lint: { findings } }`. */
  readonly failure: (message: string, output?: unknown) => Error;
}

/** A default export that is a function. */
export type PackMaker = (given: PackMakerContext) => Pack | readonly Pack[] | Promise<Pack | readonly Pack[]>;

const MAKER_CONTEXT: PackMakerContext = {
  z,
  definePack,
  failure: (message, output) => new PackFailure(message, output),
};

/**
 * Sorted by file. Throws `invalid_input` with the file and the problem, because a server that silently skipped a pack would
 * look complete. `taken`: names of existing packs.
 */
export async function loadPacks(folder: string, taken: ReadonlySet<string>): Promise<readonly Pack[]> {
  const guard = new PathGuard();
  const root = await requireGuarded(guard, folder);
  await requireGuardedBelow(guard, root);
  const owners = new Map([...taken].map((name) => [name, "a shipped pack"]));
  const packs: Pack[] = [];
  for (const file of await modulesIn(root)) {
    for (const pack of await packsOf(file)) {
      const owner = owners.get(pack.name);
      if (owner !== undefined)
        throw refuse(file, `has a pack with the name ${pack.name}, which ${owner} already has`);
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
  if (names.length === 0) throw refuse(root, "has no packs: there is no .mjs or .js file in it");
  if (names.length > MOST_FILES)
    throw refuse(root, `has ${names.length} modules; the limit is ${MOST_FILES}`);
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
  const pack = given as Pack; // its fields are checked next
  try {
    registerPacks([pack], false);
  } catch (error) {
    throw refuse(file, `has a pack that cannot be used: ${reasonOf(error)}`, error);
  }
  if (pack.name.startsWith(RESERVED)) {
    throw refuse(
      file,
      `has a pack with the name ${pack.name}: names under ${RESERVED} are reserved for shipped packs`,
    );
  }
  return pack;
}

async function requireGuarded(guard: PathGuard, path: string): Promise<string> {
  const examined = await guard.examine(path).catch((error: unknown) => {
    throw refuse(path, `cannot be inspected (${systemCodeOf(error)})`, error);
  });
  if (examined.problem === undefined) return examined.path;
  throw refuse(examined.problem.path, `${examined.problem.rule}; no pack was loaded`);
}

/** Modules can import files next to and below them. */
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

/** The file is the operator's own, so its error message is no secret. */
function reasonOf(error: unknown): string {
  const text =
    error instanceof Error ? `${isHelmdeckError(error) ? "" : `${error.name}: `}${error.message}` : "";
  return harmlessLine(text || "it threw a value that is not an error")
    .slice(0, REASON_CHARACTERS)
    .replace(/\.$/, "");
}

function refuse(path: string, rule: string, cause?: unknown): HelmdeckError {
  return new HelmdeckError("invalid_input", `${path} ${rule}.`, { details: { file: path }, cause });
}
