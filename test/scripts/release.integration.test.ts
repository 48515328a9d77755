/**
 * The release script on a clone of this repository: a dry run changes nothing, a release is complete, and the same release cannot be made
 * twice.
 */
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 300_000;
const VERSION = "99.0.0";
let clone: string;

const NAMED = {
  ...{ GIT_AUTHOR_NAME: "t", GIT_AUTHOR_EMAIL: "t@example.invalid" },
  ...{ GIT_COMMITTER_NAME: "t", GIT_COMMITTER_EMAIL: "t@example.invalid" },
};
const git = async (...args: readonly string[]) => {
  const env = { ...process.env, ...NAMED };
  return (await run("git", ["-c", "commit.gpgsign=false", ...args], { cwd: clone, env })).stdout.trim();
};
const release = (...args: readonly string[]) =>
  run(process.execPath, ["scripts/release/release.ts", ...args], {
    cwd: clone,
    env: { ...process.env, ...NAMED },
  });

beforeAll(async () => {
  clone = await mkdtemp(join(tmpdir(), "helmdeck-release-"));
  const { stdout } = await run("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
    cwd: ROOT,
  });
  for (const file of stdout.split("\0").filter((name) => name !== "")) {
    await mkdir(dirname(join(clone, file)), { recursive: true });
    await copyFile(join(ROOT, file), join(clone, file)).catch(() => {}); // deleted, but not committed yet
  }
  await symlink(join(ROOT, "node_modules"), join(clone, "node_modules"));
  await addUnreleasedEntry();
  await git("init", "--quiet", "--initial-branch", "main");
  await git("add", "--all", "--", ".", ":!node_modules");
  await git("commit", "--quiet", "--message", "Before");
}, TIMEOUT_MS);

/** Right after a release, the section is empty, and there is nothing to release. */
async function addUnreleasedEntry(): Promise<void> {
  const changelog = join(clone, "CHANGELOG.md");
  const text = await readFile(changelog, "utf8");
  await writeFile(
    changelog,
    text.replace("## [Unreleased]\n", "$&\n### Fixed\n\n- An entry of this test.\n"),
  );
}

afterAll(() => rm(clone, { recursive: true, force: true }));

test("a dry run names the places and changes none", async () => {
  const { stdout } = await release(VERSION, "--dry-run");
  for (const place of [
    "package.json",
    "package-lock.json",
    "openclaw.plugin.json",
    "docs/tutorial.md",
    "CHANGELOG.md",
  ])
    expect(stdout).toContain(`${place}: `);
  expect(stdout).toContain(`The tag would be v${VERSION}.`);
  expect(await git("status", "--porcelain", "--untracked-files=no")).toBe("");
  expect(await git("tag")).toBe("");
});

test(
  "a release has one version everywhere, a dated section, three tarballs with SBOMs and checksums, a commit and a tag",
  async () => {
    const { stdout } = await release(VERSION);
    expect(await git("log", "-1", "--format=%s")).toBe(`Release ${VERSION}`);
    expect(await git("cat-file", "-t", `v${VERSION}`)).toBe("tag");
    expect(await git("status", "--porcelain", "--untracked-files=no")).toBe("");
    const read = (file: string) => readFile(join(clone, file), "utf8");
    for (const file of ["package.json", "package-lock.json", "openclaw.plugin.json"])
      expect(JSON.parse(await read(file)).version).toBe(VERSION);
    expect(JSON.parse(await read("docs/reference/openapi.json")).info.version).toBe(VERSION);
    expect(await read("CHANGELOG.md")).toMatch(/^## \[Unreleased\]\n\n## \[99\.0\.0\] - \d{4}-\d\d-\d\d\n/m);
    const packages = stdout.match(/^dist-release\/.*\.tgz$/gm) ?? [];
    expect(packages).toHaveLength(4);
    const sums = join(clone, dirname(packages[0] ?? ""));
    expect((await run("sha256sum", ["-c", "--quiet", "SHA256SUMS"], { cwd: sums })).stdout).toBe("");
    for (const tarball of packages) {
      const { stdout: manifest } = await run("tar", ["-xzOf", join(clone, tarball), "package/package.json"]);
      expect(JSON.parse(manifest).version).toBe(VERSION);
      const sbom = JSON.parse(await read(tarball.replace(/\.tgz$/, ".cdx.json")));
      expect(sbom.metadata.component.version).toBe(VERSION);
    }
  },
  TIMEOUT_MS,
);

test("it is refused a second time, and beside changes that are not committed", async () => {
  await expect(release(VERSION)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is not later than"),
  });
  await copyFile(join(clone, "LICENSE"), join(clone, "README.md"));
  await expect(release("99.1.0")).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("README.md"),
  });
});
