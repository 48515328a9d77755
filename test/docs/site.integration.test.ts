/** The site contains every page and the API reference, and its search covers all of it. */
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";

const TIMEOUT_MS = 240_000;
let site: string;
let said: string;

beforeAll(async () => {
  site = await mkdtemp(join(tmpdir(), "helmdeck-site-"));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["scripts/docs-site.ts", site], {
    cwd: ROOT,
  });
  said = stdout + stderr;
}, TIMEOUT_MS);
afterAll(() => rm(site, { recursive: true, force: true }));

test("the documentation site is built without warnings", () => {
  expect(said).not.toMatch(/warning|error/);
});

test("the documentation site contains every page and every picture", async () => {
  const pages = globSync(["docs/**/*.md", "{CONTRIBUTING,SECURITY,CHANGELOG}.md"], { cwd: ROOT });
  const documents = await readdir(join(site, "documents"));
  expect(documents).toHaveLength(pages.length);
  expect(documents).toContain("Upgrade.html");
  expect((await readdir(join(site, "media"))).some((name) => name.startsWith("tutorial-"))).toBe(true);
  expect(await readFile(join(site, "index.html"), "utf8")).toContain('href="documents/');
});

test("the documentation site contains the library's reference, generated from the docstrings", async () => {
  const page = await readFile(join(site, "functions", "helmdeck-memory.openMemory.html"), "utf8");
  expect(page).toContain("Opens a memory in this process");
});

test("the documentation site can be searched", async () => {
  expect(await readdir(join(site, "assets"))).toEqual(expect.arrayContaining(["search.js"]));
});
