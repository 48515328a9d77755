/** Every mutant still fits the code, so that `npm run test:mutants` never meets one that a change left behind. */
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const patches = globSync("test/mutants/*.patch", { cwd: root }).sort();

test("there are mutants", () => {
  expect(patches.length).toBeGreaterThan(50);
});

test.each(patches)("%s applies and names a test that is there", (patch) => {
  execFileSync("git", ["apply", "--check", patch], { cwd: root, stdio: "pipe" });
  const [, file = ""] = /^# test: (\S+)/m.exec(readFileSync(`${root}/${patch}`, "utf8")) ?? [];
  expect(globSync(file, { cwd: root })).toEqual([file]);
});
