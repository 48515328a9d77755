/**
 * Makes a release: updates the version everywhere, closes the changelog's section, makes the four tarballs with their SBOMs and checksums,
 * lets npm check each as it would publish it, and creates a commit and a tag. It does not publish or push.
 *
 *   [HELMDECK_REPOSITORY=https://HOST/OWNER/NAME] npm run release -- 0.3.0 [--dry-run]
 *
 * The packages name the repository only if the variable does.
 * `--dry-run` prints the changes. Exit 1 with a line for each problem; then nothing is changed.
 */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { execa } from "execa";
import { repositoryFields } from "../build/repository.ts";
import { closeChangelog, newerVersion, type Release, withVersion } from "./release-texts.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CHANGELOG = "CHANGELOG.md";
/** Each file has the version once, except npm's lockfile, which has it twice. */
const PLACES: readonly (readonly [file: string, times: number])[] = [
  ["package.json", 1],
  ["package-lock.json", 2],
  ["openclaw.plugin.json", 1],
  ["docs/reference/openapi.json", 1],
  ["docs/tutorial.md", 1],
];
/** Not in dist/, because a build empties it. */
const PACKED = "dist-release";

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { "dry-run": { type: "boolean", default: false }, help: { type: "boolean", default: false } },
  });
  if (values.help)
    return console.log("Usage: npm run release -- VERSION [--dry-run]. See CONTRIBUTING.md, Releases.");
  const release = await planned(positionals);
  const changes = await changesOf(release);
  for (const file of changes.keys()) console.log(`${file}: ${release.from} → ${release.version}`);
  console.log(`\n${release.notes}\n`);
  const { homepage } = repositoryFields();
  console.log(homepage ?? "The packages will not say where their source is: HELMDECK_REPOSITORY is not set.");
  if (values["dry-run"]) return console.log(`Nothing was changed. The tag would be ${release.tag}.`);
  for (const [file, text] of changes) await writeFile(join(ROOT, file), text);
  try {
    for (const file of await packed(release)) console.log(file);
  } catch (error) {
    await git("checkout", "--quiet", "--", ...changes.keys());
    throw error;
  }
  await git("add", ...changes.keys());
  await git("commit", "--quiet", "--message", `Release ${release.version}`);
  await git("tag", "--annotate", release.tag, "--message", release.notes);
  console.log(
    `Committed and tagged ${release.tag}. To publish: git push --follow-tags, then npm publish each tarball.`,
  );
}

/** Throws if the release is not possible. */
async function planned(given: readonly string[]): Promise<Release> {
  const { version: from } = JSON.parse(await read("package.json"));
  const version = newerVersion(given, from);
  const tag = `v${version}`;
  if ((await git("tag", "--list", tag)) !== "") throw new Error(`The tag ${tag} already exists.`);
  const dirty = await git("status", "--porcelain", "--untracked-files=no");
  if (dirty !== "") throw new Error(`Commit or stash your changes first:\n${dirty}`);
  const date = new Date().toISOString().slice(0, 10);
  return { from, version, tag, date, ...closeChangelog(await read(CHANGELOG), version, date) };
}

async function changesOf(release: Release): Promise<ReadonlyMap<string, string>> {
  const places = PLACES.map(async ([file, times]) => {
    return [file, withVersion(file, await read(file), release, times)] as const;
  });
  return new Map([...(await Promise.all(places)), [CHANGELOG, release.changelog]]);
}

/** In separate processes, which read the new version. */
async function packed({ version }: Release): Promise<readonly string[]> {
  const folder = join(ROOT, PACKED, version);
  const tarballs: string[] = [];
  for (const name of ["model", "engine", "plugin", "notes"]) {
    const { stdout } = await execa(process.execPath, ["scripts/pack.ts", name, folder], {
      cwd: ROOT,
      stderr: "inherit",
    });
    const tarball = relative(ROOT, stdout.trim().split("\n").at(-1) ?? "");
    await execa("npm", ["publish", "--dry-run", "--silent", join(ROOT, tarball)], { cwd: folder });
    tarballs.push(tarball);
  }
  const files = tarballs.flatMap((tarball) => [tarball, tarball.replace(/\.tgz$/, ".cdx.json")]);
  return [...files, await checksummed(folder, files)];
}

/** For whoever gets the files in another way than from npm. */
async function checksummed(folder: string, files: readonly string[]): Promise<string> {
  const lines = files.map(async (file) => {
    const content = await readFile(join(ROOT, file));
    return `${createHash("sha256").update(content).digest("hex")}  ${basename(file)}\n`;
  });
  const list = join(folder, "SHA256SUMS");
  await writeFile(list, (await Promise.all(lines)).join(""));
  return relative(ROOT, list);
}

function read(file: string): Promise<string> {
  return readFile(join(ROOT, file), "utf8");
}

async function git(...args: readonly string[]): Promise<string> {
  return (await execa("git", args, { cwd: ROOT })).stdout;
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
