/** Installs the compared packages once, each exact version in a folder of its own. Only package registries are asked. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../scripts/build/build.ts";

const run = promisify(execFile);
const CACHE = join(ROOT, "node_modules", ".cache", "helmdeck-peers");
const WITHIN_MS = 600_000;
const UV = "uv==0.13.9";
const PYTHONS = [
  ...["python3.14", "python3.13", "python3.12", "python3", "/usr/bin/python3"],
  ...["3.13.0", "3.12.1"].map((version) =>
    join(process.env.HOME ?? "", ".pyenv", "versions", version, "bin", "python3"),
  ),
];

/** Returns the folder of the package. Install scripts stay off, as in the rest of this repository. */
export async function npmPackage(name: string, version: string): Promise<string> {
  const folder = await once(`npm-${name.replace("/", "+")}-${version}`, async (at) => {
    await writeFile(join(at, "package.json"), '{"private":true}');
    const args = [
      "install",
      "--no-audit",
      "--no-fund",
      "--ignore-scripts",
      "--save-exact",
      `${name}@${version}`,
    ];
    await run("npm", args, { cwd: at, timeout: WITHIN_MS });
  });
  return join(folder, "node_modules", name);
}

interface Archive {
  readonly path: string;
  /** For npm: has what the package depends on. */
  readonly cache: string;
}

/** A plugin's package, for OpenClaw to install. */
export async function npmArchive(name: string, version: string): Promise<Archive> {
  const folder = await once(`archive-${name.replace("/", "+")}-${version}`, async (at) => {
    const npm = (...args: readonly string[]) =>
      run("npm", [...args, "--cache", join(at, "cache")], { cwd: at, timeout: WITHIN_MS });
    await npm("pack", `${name}@${version}`);
    await writeFile(join(at, "package.json"), '{"private":true}');
    await npm("install", "--no-audit", "--no-fund", "--ignore-scripts", `${name}@${version}`);
    await rm(join(at, "node_modules"), { recursive: true });
  });
  const [archive = ""] = readdirSync(folder).filter((file) => file.endsWith(".tgz"));
  return { path: join(folder, archive), cache: join(folder, "cache") };
}

export interface PythonNeeds {
  /** Such as `(3, 12)`. */
  readonly atLeast: string;
  /** sqlite-vec is an extension of SQLite, which many builds of Python cannot load. */
  readonly sqliteExtensions?: boolean;
}

/** Returns the folder with the package's commands. */
export async function pythonPackage(name: string, version: string, needs: PythonNeeds): Promise<string> {
  const folder = await once(`python-${name}-${version}`, async (at) => {
    const python = await pythonFor(needs);
    const uv = await once(`python-${UV}`, async (tools) => {
      await run("python3", ["-m", "venv", tools], { timeout: WITHIN_MS });
      await run(join(tools, "bin", "pip"), ["install", "-q", UV], { timeout: WITHIN_MS });
    });
    await run(python, ["-m", "venv", "--without-pip", at], { timeout: WITHIN_MS });
    const into = ["pip", "install", "-q", "--python", join(at, "bin", "python"), `${name}==${version}`];
    await run(join(uv, "bin", "uv"), into, { timeout: WITHIN_MS });
  });
  return join(folder, "bin");
}

async function pythonFor({ atLeast, sqliteExtensions = false }: PythonNeeds): Promise<string> {
  const check = [
    "import sqlite3, sys",
    `assert sys.version_info >= ${atLeast}`,
    ...(sqliteExtensions ? ["sqlite3.connect(':memory:').enable_load_extension(True)"] : []),
  ].join("\n");
  for (const python of PYTHONS) {
    const fits = await run(python, ["-c", check]).then(
      () => true,
      () => false,
    );
    if (fits) return python;
  }
  const extensions = sqliteExtensions ? " whose sqlite3 loads extensions" : "";
  throw new Error(`No Python of at least ${atLeast}${extensions} is installed.`);
}

async function once(name: string, install: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(CACHE, name);
  const done = join(folder, ".installed");
  if (existsSync(done)) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await install(folder);
  await writeFile(done, "");
  return folder;
}
