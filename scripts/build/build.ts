/**
 * Builds dist/: the OpenClaw plugin and the built-in model as separate packages, and the bundled command line.
 *
 * Builds in a folder next to dist/ and renames it at the end, so that a failed or killed build leaves no partial one. Skips
 * the build if no source changed since the last one (`--force` builds anyway).
 */

import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { chmod, cp, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";
import { unlessMissing } from "../../engine/private-file.ts";
import { shippedPipelineFiles } from "../../packs/pipelines/load-pipelines.ts";
import { buildClientPackages } from "./client-packages.ts";
import { INSTALLED_WITH_IT, LIBRARY } from "./engine-package.ts";
import { buildModelPackage } from "./model-package.ts";
import { notesPackage, OLDEST_HOST, pluginPackage, readManifest } from "./plugin-package.ts";
import { bundledPackages, noticesFor } from "./third-party.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const DIST = join(ROOT, "dist");
export const PLUGIN_DIST = join(DIST, "plugin");
export const MODEL_DIST = join(DIST, "model");
/** Beside it: the plugin for OpenClaw's own notes. */
export const NOTES_DIST = join(DIST, "notes-plugin");

/** OpenClaw evaluates this file on every load in every process. */
const MAIN_MAX_BYTES = 85_000;
/** Every command loads this much before it parses its arguments; store, index and schemas together are five times as large. */
const START_MAX_BYTES = 320_000;
/** Next to the stamp: the third-party packages in the bundles, for the SBOM. */
const BUNDLED_FILE = ".bundled.json";
const STAMP = ".built-from";
const SOURCES = [
  "{engine,recall,sidecar,model,app,packs,seam,pages,server,commands,plugin,cli,install}/**/*.{ts,md,yaml,json}",
  "scripts/build/*.ts",
  // The build compares the model's large files with checksums in model/.
  "model/{*.ts,artefact/*.{md,txt}}",
];
const SOURCE_FILES = [
  ...["package.json", "package-lock.json", "LICENSE"],
  ...["openclaw.plugin.json", "plugin/notes/openclaw.plugin.json"],
];

const COMMON: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node24",
  metafile: true,
  alias: { "whatwg-fetch": "./scripts/build/no-polyfill.ts", "pg-native": "./scripts/build/no-native.ts" },
  legalComments: "eof",
  logLevel: "warning",
};

/** Bundled CommonJS libraries load Node's own modules with require. */
export const REQUIRE = {
  js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
};

/** Today at midnight UTC: a clock with an earlier time is wrong. See engine/store/time-seen.ts. */
const BUILT_AT = { __HELMDECK_BUILT_AT__: `${new Date().setUTCHours(0, 0, 0, 0)}` };

/** The commands of package.json's `bin`, and their programs. */
const COMMANDS: Readonly<Record<string, string>> = {
  "helmdeck-memory": "./cli.mjs",
  "helmdeck-here": "./here.mjs",
};

/** Packages that are bundled into the plugins, and into the commands, each as `name@version`. */
export interface Bundled {
  readonly plugin: readonly string[];
  readonly notes: readonly string[];
  readonly commands: readonly string[];
}

export interface Built {
  readonly fresh: boolean;
  readonly seconds: number;
}

/** Builds dist/ if a source changed since the last build. Throws if the result breaks a size or content rule. */
export async function buildAll(options: { readonly force?: boolean } = {}): Promise<Built> {
  const started = performance.now();
  const since = () => (performance.now() - started) / 1_000;
  const sources = await fingerprintOfSources();
  const known = await readFile(join(DIST, STAMP), "utf8").catch(() => undefined);
  if (options.force !== true && known === sources) return { fresh: false, seconds: since() };
  const making = join(ROOT, `.dist-${process.pid}`);
  try {
    await rm(making, { recursive: true, force: true });
    await mkdir(making);
    const [plugin, notes, commands] = await Promise.all([
      buildPlugin(join(making, "plugin"), sources),
      buildNotesPlugin(join(making, "notes-plugin"), sources),
      buildCommandLine(making),
      buildModelPackage(ROOT, join(making, "model"), await rootPackage()),
      buildClientPackages(join(making, "clients")),
    ]);
    await writeJson(join(making, BUNDLED_FILE), { plugin, notes, commands } satisfies Bundled);
    await writeFile(join(making, STAMP), sources);
    await exchange(making, DIST);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
  return { fresh: true, seconds: since() };
}

/** The packages bundled by the last build. */
export async function readBundled(): Promise<Bundled> {
  return JSON.parse(await readFile(join(DIST, BUNDLED_FILE), "utf8"));
}

/** Builds the package that OpenClaw installs: code files without dependencies. `buildId` identifies the sources. Returns the bundled packages. */
export async function buildPlugin(outFolder: string, buildId: string): Promise<readonly string[]> {
  const root = await rootPackage();
  await mkdir(join(outFolder, "dist"), { recursive: true });
  const how: BuildOptions = {
    ...forOpenClaw(outFolder),
    define: { __HELMDECK_BUILD__: JSON.stringify(buildId), ...BUILT_AT },
  };
  const [gateway, beside] = await Promise.all([
    build({
      ...how,
      metafile: true,
      entryPoints: ON_MAIN_THREAD,
      plugins: [besideTheMainFile],
    }),
    build({ ...how, metafile: true, ...SHARED_CHUNKS, entryPoints: ELSEWHERE }),
  ]);
  const metafile = {
    inputs: { ...gateway.metafile.inputs, ...beside.metafile.inputs },
    outputs: { ...gateway.metafile.outputs, ...beside.metafile.outputs },
  };
  requireNoDependencies(metafile);
  requireNoServer(metafile);
  await requireSmall(join(outFolder, "dist", "index.js"));
  await Promise.all([
    writeJson(join(outFolder, "package.json"), pluginPackage(root)),
    writeJson(join(outFolder, "openclaw.plugin.json"), await readManifest(ROOT, root.version)),
    cp(join(ROOT, "plugin", "README.md"), join(outFolder, "README.md")),
    cp(join(ROOT, "LICENSE"), join(outFolder, "LICENSE")),
    writeFile(join(outFolder, "THIRD_PARTY_NOTICES.md"), await noticesFor(ROOT, metafile)),
  ]);
  return bundledPackages(ROOT, metafile);
}

function forOpenClaw(outFolder: string): BuildOptions {
  return {
    ...COMMON,
    target: `node${OLDEST_HOST.node.split(".")[0]}`,
    outdir: join(outFolder, "dist"),
    external: ["openclaw/plugin-sdk/*", "better-sqlite3"],
  };
}

/** Builds the plugin for OpenClaw's own notes. Returns the bundled packages. */
export async function buildNotesPlugin(outFolder: string, buildId: string): Promise<readonly string[]> {
  const root = await rootPackage();
  const { metafile } = await build({
    ...forOpenClaw(outFolder),
    metafile: true,
    entryPoints: NOTES,
    define: { __HELMDECK_BUILD__: JSON.stringify(buildId) },
  });
  requireNoDependencies(metafile);
  requireNoServer(metafile);
  await requireSmall(join(outFolder, "dist", "index.js"));
  const source = join(ROOT, "plugin", "notes");
  await Promise.all([
    writeJson(join(outFolder, "package.json"), notesPackage(root)),
    writeJson(join(outFolder, "openclaw.plugin.json"), await readManifest(source, root.version)),
    cp(join(source, "README.md"), join(outFolder, "README.md")),
    cp(join(ROOT, "LICENSE"), join(outFolder, "LICENSE")),
    writeFile(join(outFolder, "THIRD_PARTY_NOTICES.md"), await noticesFor(ROOT, metafile)),
  ]);
  return bundledPackages(ROOT, metafile);
}

const NOTES = { index: "plugin/notes/index.ts", "model-process": "model/model-process.ts" };

/** The gateway's main thread loads the first file, and rarely the others. Each is small and self-contained. */
const ON_MAIN_THREAD = {
  index: "plugin/index.ts",
  here: "plugin/memory-here.ts",
  "on-demand": "plugin/on-demand.ts",
  pages: "plugin/pages-handler.ts",
  engine: "plugin/engine-source.ts",
  helmdeck: "plugin/helmdeck-source.ts",
};
/** The memory itself, for the worker and for `openclaw helmdeck`. */
const ELSEWHERE = {
  worker: "plugin/worker.ts",
  "helmdeck-worker": "plugin/helmdeck-worker.ts",
  "notes-thread": "app/traces/notes-thread.ts",
  commands: "plugin/openclaw-commands.ts",
  "model-process": "model/model-process.ts",
};
const BUILT = Object.entries({ ...ON_MAIN_THREAD, ...ELSEWHERE });
const SHARED_CHUNKS = {
  ...{ splitting: true, chunkNames: "chunks/[name]-[hash]", banner: REQUIRE },
} satisfies BuildOptions;

/** The main file's dynamic imports of files that are built next to it. */
const besideTheMainFile: Plugin = {
  name: "beside-the-main-file",
  setup: ({ onResolve }) => {
    onResolve({ filter: /\.ts$/ }, ({ kind, path }) => {
      if (kind !== "dynamic-import") return undefined;
      const [name] = BUILT.find(([, file]) => basename(file) === basename(path)) ?? [];
      return name === undefined ? undefined : { path: `./${name}.js`, external: true };
    });
  },
};

/** Builds the commands: an entry script for each that any Node can read, and programs split by command for a quick start. Returns the bundled packages. */
export async function buildCommandLine(outFolder: string): Promise<readonly string[]> {
  const { engines } = await rootPackage();
  const { metafile } = await build({
    ...COMMON,
    metafile: true,
    entryPoints: {
      cli: "cli/helmdeck-memory-main.ts",
      here: "cli/here-main.ts",
      install: "install/installer-main.ts",
      "model-process": "model/model-process.ts",
      "notes-thread": "app/traces/notes-thread.ts",
      ...LIBRARY,
    },
    outdir: outFolder,
    outExtension: { ".js": ".mjs" },
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    external: [INSTALLED_WITH_IT],
    define: { __HELMDECK_PIPELINES__: JSON.stringify(shippedPipelineFiles()), ...BUILT_AT },
    banner: REQUIRE,
  });
  requireQuickStart(metafile);
  requireNoDependencies(metafile, isProvidedToCommands);
  for (const [command, program] of Object.entries(COMMANDS)) {
    const front = join(outFolder, `${command}.mjs`);
    await writeFile(front, frontFor(engines.node, command, program));
    await chmod(front, 0o755);
  }
  await writeFile(join(outFolder, "THIRD_PARTY_NOTICES.md"), await noticesFor(ROOT, metafile));
  return bundledPackages(ROOT, metafile);
}

/** Keeps `--version` and usage errors fast: code that opens a memory is loaded only by commands that need it. */
export function requireQuickStart({ outputs }: Metafile): void {
  for (const program of Object.keys(outputs).filter((file) => /\/(cli|here)\.mjs$/.test(file))) {
    const bytes = [...loadedBy(program, outputs)].reduce((sum, file) => sum + (outputs[file]?.bytes ?? 0), 0);
    if (bytes > START_MAX_BYTES) {
      throw new Error(
        `${program} loads ${bytes} bytes at its start; it may load ${START_MAX_BYTES}. Import there what opens a memory with \`await import(…)\`.`,
      );
    }
  }
}

function loadedBy(file: string, outputs: Metafile["outputs"], seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const imports = outputs[file]?.imports ?? [];
  for (const { path } of imports.filter(({ kind }) => kind === "import-statement"))
    loadedBy(path, outputs, seen);
  return seen;
}

/** In old JavaScript syntax, so that a Node that is too old can run it and report this. */
export function frontFor(nodeRange: string, command = "helmdeck-memory", program = "./cli.mjs"): string {
  const least = nodeRange.replace(/^\D*/, "");
  const [major, minor] = least.split(".");
  return `#!/usr/bin/env node
var have = process.versions.node.split(".").map(Number);
if (have[0] < ${major} || (have[0] === ${major} && have[1] < ${minor})) {
  console.error("runtime_unsupported: ${command} needs Node ${major}.${minor} or later; this is " + process.version + ". Install it from https://nodejs.org.");
  process.exit(1);
} else {
  import("${program}");
}
`;
}

/** An accidental dependency, such as better-sqlite3, would be missing after the installation. */
export function requireNoDependencies(metafile: Metafile, isProvided = isProvidedToPlugin): void {
  for (const [file, output] of Object.entries(metafile.outputs)) {
    const needed = output.imports.filter(({ external }) => external).map(({ path }) => path);
    const missing = needed.filter((path) => !isProvided(path));
    if (missing.length > 0) throw new Error(`${file} must not need ${missing.join(", ")} at run time.`);
  }
}

/** OpenClaw loads only memory. Servers, packs and database clients stay out of its process. */
export function requireNoServer(metafile: Metafile): void {
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const foreign = inputs.filter((file) =>
    /^(packs|server|cli|install|seam)\/|^engine\/store\/postgres\/|(^|\/)node_modules\/pg\//.test(file),
  );
  if (foreign.length > 0) throw new Error(`The plugin must not hold ${foreign.join(", ")}.`);
}

/** `pg` loads pg-native and pg-cloudflare only in special environments; it works without them. */
const NEVER_ASKED_FOR = ["pg-native", "pg-cloudflare"];

function isProvidedToCommands(path: string): boolean {
  return isBuiltin(path) || path === INSTALLED_WITH_IT || NEVER_ASKED_FOR.includes(path);
}

function isProvidedToPlugin(path: string): boolean {
  return (
    BUILT.some(([name]) => path === `./${name}.js`) ||
    isBuiltin(path) ||
    path.startsWith("openclaw/plugin-sdk/")
  );
}

async function requireSmall(file: string): Promise<void> {
  const { size } = await stat(file);
  if (size > MAIN_MAX_BYTES) {
    throw new Error(`${file} has ${size} bytes; the limit for the main-thread file is ${MAIN_MAX_BYTES}.`);
  }
}

async function fingerprintOfSources(): Promise<string> {
  const files = [...SOURCES.flatMap((pattern) => globSync(pattern, { cwd: ROOT })), ...SOURCE_FILES].sort();
  const hash = createHash("sha256");
  for (const file of files) {
    hash.update(`${file}\0`);
    hash.update(await readFile(join(ROOT, file)));
  }
  return hash.digest("hex");
}

async function exchange(made: string, place: string): Promise<void> {
  const old = `${made}-old`;
  await unlessMissing(rename(place, old), undefined);
  await rename(made, place);
  await rm(old, { recursive: true, force: true });
}

async function rootPackage() {
  return JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
}

if (import.meta.main) {
  const { fresh, seconds } = await buildAll({ force: process.argv.includes("--force") });
  console.log(fresh ? `Built dist/ in ${seconds.toFixed(1)} s.` : "dist/ is up to date.");
}
