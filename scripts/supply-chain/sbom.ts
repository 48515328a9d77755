/** The SBOM of a tarball (CycloneDX), made with `npm sbom` from the lockfile. Packages are `name@version`. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as z from "zod";
import { MODEL_PACKAGE } from "../../model/artefact.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MOST_BYTES = 64 * 1_024 * 1_024;
const MODULES = "node_modules/";
const MODEL_RUNTIME = "onnxruntime-web";

const component = z.looseObject({ "bom-ref": z.string(), name: z.string(), version: z.string() });
const bom = z.looseObject({
  metadata: z.looseObject({ component }),
  components: z.array(component),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
});
export type Sbom = z.infer<typeof bom>;

export interface Packed {
  readonly name: string;
  readonly version: string;
  /** The packages that npm installs with it. */
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** The packages that are bundled into the npm package or installed with it. The model is our own and has its own list. */
export async function sbomOfEngine(engine: Packed, bundled: readonly string[]): Promise<Sbom> {
  const { dependencies = {} } = engine;
  const locked = await lockedForUse();
  requireAll(locked, bundled);
  const all = Object.entries(dependencies).filter(([name]) => name !== MODEL_PACKAGE);
  const installed = all.map(([name, version]) => `${name}@${version}`);
  const direct = [...new Set([...bundled, ...installed])];
  return named(only(locked, new Set([...bundled, ...neededBy(locked, installed)]), direct), engine);
}

/** The package whose WebAssembly it holds. */
export async function sbomOfModel(model: Packed): Promise<Sbom> {
  const locked = await lockedForAll();
  const runtime = locked.components.find(({ name }) => name === MODEL_RUNTIME);
  if (runtime === undefined) throw new Error(`The SBOM has no ${MODEL_RUNTIME}.`);
  const ref = runtime["bom-ref"];
  return named(only(locked, new Set([ref]), [ref]), model);
}

/** Only the packages bundled into the plugin, because nothing is installed with it. */
export async function sbomOfPlugin(plugin: Packed, bundled: readonly string[]): Promise<Sbom> {
  const locked = await lockedForUse();
  requireAll(locked, bundled);
  return named(only(locked, new Set(bundled), bundled), plugin);
}

/** Without development-only packages, according to the lockfile, because `npm sbom --omit dev` leaves out too much. */
async function lockedForUse(): Promise<Sbom> {
  const [all, lock] = await Promise.all([lockedForAll(), readFile(join(ROOT, "package-lock.json"), "utf8")]);
  const { packages } = lockfile.parse(JSON.parse(lock));
  const used = Object.entries(packages).filter(([path, { dev }]) => path !== "" && !dev);
  return only(all, new Set(used.map(refOf)), []);
}

async function lockedForAll(): Promise<Sbom> {
  const args = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
  const { stdout } = await promisify(execFile)("npm", args, { cwd: ROOT, maxBuffer: MOST_BYTES });
  return bom.parse(JSON.parse(stdout));
}

const lockfile = z.object({
  packages: z.record(
    z.string(),
    z.object({ name: z.string().optional(), version: z.string(), dev: z.boolean().default(false) }),
  ),
});
type Locked = z.infer<typeof lockfile>["packages"][string];

function refOf([path, { name, version }]: readonly [string, Locked]): string {
  return `${name ?? path.slice(path.lastIndexOf(MODULES) + MODULES.length)}@${version}`;
}

function packagesIn({ components }: Sbom): ReadonlySet<string> {
  return new Set(components.map((one) => one["bom-ref"]));
}

/** These packages and their transitive dependencies. */
function neededBy({ dependencies }: Sbom, packages: readonly string[]): ReadonlySet<string> {
  const found = new Set(packages);
  for (const one of found) {
    for (const needed of dependencies.find(({ ref }) => ref === one)?.dependsOn ?? []) found.add(needed);
  }
  return found;
}

function requireAll(locked: Sbom, bundled: readonly string[]): void {
  const listed = packagesIn(locked);
  const missing = bundled.filter((one) => !listed.has(one));
  if (missing.length > 0) {
    throw new Error(
      `The SBOM has no ${missing.join(", ")}: bundled, but not locked for use, or another version.`,
    );
  }
}

/** Only the packages in `kept`; the root depends on those in `direct`. */
function only(all: Sbom, kept: ReadonlySet<string>, direct: readonly string[]): Sbom {
  const dependencies = all.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }));
  return {
    ...all,
    components: all.components.filter((one) => kept.has(one["bom-ref"])),
    dependencies: [{ ref: all.metadata.component["bom-ref"], dependsOn: [...direct] }, ...dependencies],
  };
}

/** npm names the root after its folder on this machine. */
function named(all: Sbom, { name, version }: Packed): Sbom {
  const { component: root } = all.metadata;
  const ref = `${name}@${version}`;
  return {
    ...all,
    metadata: {
      ...all.metadata,
      component: { ...root, "bom-ref": ref, name, version, purl: `pkg:npm/${ref.replace(/^@/, "%40")}` },
    },
    dependencies: all.dependencies.map((one) => (one.ref === root["bom-ref"] ? { ...one, ref } : one)),
  };
}
