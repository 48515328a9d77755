/** The mutants' script can fail: it tells a caught mutant from one that survives, does not apply or tests nothing. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const PATCHED = "engine/memory/namespace.ts";
const TEST = `${fileURLToPath(import.meta.url)
  .slice(root.length)
  .replace("mutants.test.ts", "mutants-subject.test.ts")}`;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "helmdeck-memory-patches-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** A patch that changes one line of the namespace module. */
async function writeMutant(name: string, test: string, from: string, to: string): Promise<void> {
  const lines = (await readFile(join(root, PATCHED), "utf8")).split("\n");
  const at = lines.findIndex((line) => line.includes(from));
  const context = (offset: number): string => ` ${lines[at + offset] ?? "not in the file"}`;
  const line = lines[at] ?? from;
  const hunk = [context(-1), `-${line}`, `+${line.replace(from, to)}`, context(1)];
  const header = [`diff --git a/${PATCHED} b/${PATCHED}`, `--- a/${PATCHED}`, `+++ b/${PATCHED}`];
  const content = [`# test: ${test}`, `# breaks: ${name}`, ...header, `@@ -${at},3 +${at},3 @@`, ...hunk, ""];
  await writeFile(join(folder, `${name}.patch`), content.join("\n"));
}

test("each outcome is told apart, and all but the catch make it fail", async () => {
  await writeMutant("caught-one", TEST, 'replaceAll(":", "%3A")', 'replaceAll(":", ":")');
  await writeMutant("does-not-apply", TEST, "no such line", "another");
  await writeMutant(
    "no-such-test",
    `${TEST} -t "a name that no test has"`,
    'replaceAll(":", "%3A")',
    'replaceAll(":", ":")',
  );
  await writeMutant("survivor", TEST, "The owner of entries", "The holder of entries");
  const all = await runScript([]);
  expect(all.verdicts).toEqual({
    "caught-one": "caught",
    "does-not-apply": "DOES NOT APPLY",
    "no-such-test": "TEST NOT GREEN",
    survivor: "SURVIVED",
  });
  expect(all.code).toBe(1);
  expect(await runScript(["caught-one"])).toMatchObject({ code: 0, verdicts: { "caught-one": "caught" } });
}, 120_000);

async function runScript(names: readonly string[]): Promise<{
  readonly code: number;
  readonly verdicts: Readonly<Record<string, string>>;
}> {
  const args = [join(root, "scripts", "mutants.ts"), "--from", folder, ...names];
  const { code, stdout } = await promisify(execFile)(process.execPath, args).then(
    ({ stdout: output }) => ({ code: 0, stdout: output }),
    (error: { readonly code: number; readonly stdout: string }) => error,
  );
  const rows = stdout.matchAll(/^(caught|SURVIVED|DOES NOT APPLY|TEST NOT GREEN|TEST NOT RUN) +(\S+)/gm);
  return { code, verdicts: Object.fromEntries([...rows].map(([, verdict, name]) => [name, verdict])) };
}
