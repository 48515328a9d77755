/** The mutants' script can fail: it tells a caught mutant from one that survives, does not apply or tests nothing. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";

const root = fileURLToPath(new URL("../..", import.meta.url));
const TEST = "test/scripts/mutants-subject.test.ts";
const UNESCAPED = { find: 'replaceAll(":", "%3A")', replace: 'replaceAll(":", ":")' };

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "helmdeck-memory-mutants-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** A mutant of the namespace module. */
function mutantOf(name: string, edit: typeof UNESCAPED, testName = TEST) {
  const edits = [{ file: "engine/store/namespace.ts", ...edit }];
  return { name, breaks: "P-alone-subjects", test: testName, edits };
}

test("each outcome is told apart, and all but the catch make it fail", async () => {
  const mutants = [
    mutantOf("caught-one", UNESCAPED),
    mutantOf("does-not-apply", { find: "no such line", replace: "another" }),
    mutantOf("no-such-test", UNESCAPED, `${TEST} -t "a name that no test has"`),
    mutantOf("survivor", { find: "The owner of entries", replace: "The holder of entries" }),
  ];
  await writeFile(join(folder, "all.yaml"), stringify(mutants));
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
  const args = [join(root, "scripts", "mutants", "run-mutants.ts"), "--from", folder, ...names];
  const { code, stdout } = await promisify(execFile)(process.execPath, args).then(
    ({ stdout: output }) => ({ code: 0, stdout: output }),
    (error: { readonly code: number; readonly stdout: string }) => error,
  );
  const rows = stdout.matchAll(/^(caught|SURVIVED|DOES NOT APPLY|TEST NOT GREEN|TEST NOT RUN) +(\S+)/gm);
  return { code, verdicts: Object.fromEntries([...rows].map(([, verdict, name]) => [name, verdict])) };
}
