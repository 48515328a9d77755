/**
 * Checks that `npm ci` installs only reviewed packages.
 *
 *   npm run check:lockfile
 *
 * Threat: a new package version with an install script, or a lockfile that was edited to fetch a package from elsewhere.
 * Defence: each locked package comes from npm's registry and has a checksum; install scripts are disabled (.npmrc), and the
 * check fails for a script that is not listed here. It does not stop a malicious version in the registry itself.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Locked packages with an install script, each with its reason. Only the script of `node` is ever run. */
const KNOWN_SCRIPTS: Readonly<Record<string, string>> = {
  node: "Puts the pinned Node's binary in place; run by name by scripts/with-deps.mjs.",
  openclaw: "The host that the tests drive; not run.",
  esbuild: "Checks its binary, which is a package of its own; not run.",
  "@modelcontextprotocol/inspector": "A client that the tests drive; not run.",
  "@google/genai": "Comes with openclaw; not run.",
  koffi: "Comes with openclaw; not run.",
  protobufjs: "Comes with openclaw; not run.",
};

const REGISTRY = "https://registry.npmjs.org/";
const CHECKSUM = /^sha512-[A-Za-z0-9+/]{86}==$/;
/** A version or a range of versions; not an address, a folder, a tag or another package's name. */
const VERSIONS = /^[\dvx*^~<>=|.\s-][\w*^~<>=|.\s+-]*$/;
const SCRIPTS_OFF = /^ignore-scripts=true$/m;

const specs = z.record(z.string(), z.string()).default({});
const lockedPackage = z.looseObject({
  name: z.string().optional(),
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  inBundle: z.boolean().default(false),
  link: z.boolean().default(false),
  hasInstallScript: z.boolean().default(false),
  dependencies: specs,
  devDependencies: specs,
  optionalDependencies: specs,
});
const lockfile = z.object({ lockfileVersion: z.literal(3), packages: z.record(z.string(), lockedPackage) });
type LockedPackage = z.infer<typeof lockedPackage>;

function main(): number {
  const read = (name: string) => readFileSync(join(ROOT, name), "utf8");
  const problems = [
    ...problemsOfLockfile(JSON.parse(read("package-lock.json")), KNOWN_SCRIPTS),
    ...(SCRIPTS_OFF.test(read(".npmrc")) ? [] : [".npmrc: must say ignore-scripts=true"]),
  ];
  for (const problem of problems) console.error(problem);
  return problems.length === 0 ? 0 : 1;
}

/** The problems of a parsed package-lock.json. */
export function problemsOfLockfile(
  content: unknown,
  knownScripts: Readonly<Record<string, string>>,
): readonly string[] {
  const packages = Object.entries(lockfile.parse(content).packages);
  const withScripts = new Set(packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(nameOf));
  return [
    ...packages.flatMap(([path, locked]) => [
      ...(path === "" ? [] : problemsOfOrigin(path, locked)),
      ...problemsOfSpecs(path, locked),
    ]),
    ...[...withScripts]
      .filter((name) => !Object.hasOwn(knownScripts, name))
      .map((name) => `${name}: has an install script that is not named in check-lockfile.ts`),
    ...Object.keys(knownScripts)
      .filter((name) => !withScripts.has(name))
      .map((name) => `${name}: is named in check-lockfile.ts and has no install script any more`),
  ];
}

/** A package inside another one's tarball is covered by that tarball's checksum. */
function problemsOfOrigin(path: string, locked: LockedPackage): readonly string[] {
  const { resolved = REGISTRY, integrity = "", inBundle, link } = locked;
  if (link) return [`${path}: is a link to a folder`];
  return [
    ...(resolved.startsWith(REGISTRY) ? [] : [`${path}: comes from ${resolved}, not from npm's registry`]),
    ...(inBundle || CHECKSUM.test(integrity) ? [] : [`${path}: has no SHA-512 checksum`]),
  ];
}

function problemsOfSpecs(path: string, locked: LockedPackage): readonly string[] {
  const asked = { ...locked.dependencies, ...locked.devDependencies, ...locked.optionalDependencies };
  return Object.entries(asked)
    .filter(([, spec]) => !VERSIONS.test(spec))
    .map(([name, spec]) => `${path || "package.json"}: asks for ${name} as ${spec}, not by version`);
}

function nameOf([path, { name }]: readonly [string, LockedPackage]): string {
  return name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

if (import.meta.main) process.exitCode = main();
