/**
 * Shows that the security and durability tests can fail: applies each mutant of test/mutants/ to a copy of the tree, where its
 * test must fail; without the mutant the test must pass (test/mutants/README.md).
 *
 *   npm run test:mutants [-- NAME…] [--from FOLDER]
 *
 * Exit 0 if every mutant was caught; 1 if one survived, did not apply, or its test fails without the mutant.
 */

import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { unlessMissing } from "../../engine/private-file.ts";
import { applyEdits, type Mutant, readMutants } from "./mutants-list.ts";
import { BETWEEN_TITLES } from "./test-titles.ts";

const run = promisify(execFile);
const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const AT_ONCE = 2;
const TEST_TIMEOUT_MS = 10 * 60 * 1_000;

type Verdict = "caught" | "SURVIVED" | "DOES NOT APPLY" | "TEST NOT GREEN" | "TEST NOT RUN";

interface Outcome {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
  readonly note: string;
}

interface TestRun {
  readonly results: readonly TestResult[];
  /** The reason for a missing report. */
  readonly trouble?: string;
}

interface TestResult {
  /** As vitest matches it with `-t`. */
  readonly name: string;
  readonly isPassed: boolean;
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** The reason why no test ran. */
  readonly trouble?: string;
}

/** The used fields of vitest's JSON report. */
interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
    }[];
  }[];
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { from: { type: "string", default: join(root, "test", "mutants") } },
  });
  const mutants = await choose(resolve(values.from), positionals);
  const outcomes = await judgeAll(mutants);
  const caught = outcomes.filter(({ verdict }) => verdict === "caught").length;
  console.log(`\n${caught} of ${outcomes.length} mutants caught`);
  process.exitCode = caught === outcomes.length ? 0 : 1;
}

async function choose(folder: string, wanted: readonly string[]): Promise<readonly Mutant[]> {
  const all = await readMutants(folder);
  const names = all.map(({ name }) => name);
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length > 0)
    throw new Error(`no such mutant: ${unknown.join(", ")}; there are ${names.join(", ")}`);
  const chosen = wanted.length === 0 ? all : all.filter(({ name }) => wanted.includes(name));
  if (chosen.length === 0) throw new Error(`there is no mutant in ${folder}`);
  return chosen;
}

/** Runs a few at a time and prints the results in order. */
async function judgeAll(all: readonly Mutant[]): Promise<readonly Outcome[]> {
  const baseline = new Baseline(all);
  const waiting = [...all.entries()];
  const outcomes = new Map<number, Outcome>();
  let printed = 0;
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [place, mutant] = next;
      outcomes.set(place, await judge(mutant, baseline));
      for (let ready = outcomes.get(printed); ready !== undefined; ready = outcomes.get(++printed))
        print(ready);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return [...outcomes.values()];
}

async function judge(mutant: Mutant, baseline: Baseline): Promise<Outcome> {
  const unchanged = countsOf(await baseline.of(mutant));
  if (unchanged.passed === 0 || unchanged.failed > 0) {
    const note =
      unchanged.trouble ?? `${unchanged.failed} of ${unchanged.passed + unchanged.failed} tests fail`;
    return { mutant, verdict: "TEST NOT GREEN", note: `without it: ${note}` };
  }
  return inCopy(async (copy) => {
    const refusal = await applyEdits(mutant.edits, copy);
    if (refusal !== undefined) return { mutant, verdict: "DOES NOT APPLY", note: refusal };
    const { passed, failed, trouble } = countsOf(await runTest(mutant.test, copy));
    if (trouble !== undefined) return { mutant, verdict: "TEST NOT RUN", note: trouble };
    return failed === 0
      ? { mutant, verdict: "SURVIVED", note: `${passed} tests stay green` }
      : { mutant, verdict: "caught", note: `${failed} of ${passed + failed} tests turn red` };
  });
}

/** Runs the named tests of each file once, together, on the unchanged tree. */
class Baseline {
  readonly #tests: ReadonlyMap<string, readonly Mutant["test"][]>;
  readonly #runs = new Map<string, Promise<TestRun>>();

  constructor(mutants: readonly Mutant[]) {
    this.#tests = Map.groupBy(
      mutants.map(({ test }) => test),
      ({ file }) => file,
    );
  }

  async of({ test: { file, name = "" } }: Mutant): Promise<TestRun> {
    const run = this.#runs.get(file) ?? inCopy((copy) => runTest(this.#together(file), copy));
    this.#runs.set(file, run);
    const { results, ...rest } = await run;
    return { results: results.filter((result) => new RegExp(name).test(result.name)), ...rest };
  }

  #together(file: string): Mutant["test"] {
    const names = (this.#tests.get(file) ?? []).map(({ name }) => name);
    return names.includes(undefined) ? { file } : { file, name: [...new Set(names)].join("|") };
  }
}

/** A copy of the working tree, including uncommitted changes, with linked dependencies. */
async function inCopy<T>(work: (copy: string) => Promise<T>): Promise<T> {
  const copy = await mkdtemp(join(tmpdir(), "helmdeck-memory-mutant-"));
  try {
    const listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    const { stdout } = await run("git", listing, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
    for (const file of new Set(stdout.split("\0").filter((name) => name !== ""))) {
      await mkdir(dirname(join(copy, file)), { recursive: true });
      await unlessMissing(copyFile(join(root, file), join(copy, file)), undefined); // deleted, and not yet committed
    }
    await symlink(join(root, "node_modules"), join(copy, "node_modules"));
    return await work(copy);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function runTest(test: Mutant["test"], copy: string): Promise<TestRun> {
  const report = join(copy, "mutant-report.json");
  const filter = test.name === undefined ? [] : ["-t", test.name];
  const args = ["run", test.file, ...filter, "--reporter=json", `--outputFile=${report}`];
  const output = await run(join(root, "node_modules", ".bin", "vitest"), args, {
    cwd: copy,
    timeout: TEST_TIMEOUT_MS,
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: unknown) => ({ stdout: "", stderr: outputOf(error) }));
  return readReport(report, output.stderr);
}

async function readReport(report: string, stderr: string): Promise<TestRun> {
  const json = await readFile(report, "utf8").catch(() => undefined);
  if (json === undefined) return { results: [], trouble: `no report: ${lastLine(stderr)}` };
  const { testResults }: Report = JSON.parse(json);
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const results = tests
    .filter(({ status }) => status === "passed" || status === "failed")
    .map(({ ancestorTitles, title, status }) => ({
      name: [...ancestorTitles, title].join(BETWEEN_TITLES),
      isPassed: status === "passed",
    }));
  return { results };
}

/** A file that does not load has no failed tests: the mutant is broken, not caught. */
function countsOf({ results, trouble = "no test ran: wrong name, or it does not load" }: TestRun): Counts {
  const passed = results.filter(({ isPassed }) => isPassed).length;
  const counts = { passed, failed: results.length - passed };
  return results.length === 0 ? { ...counts, trouble } : counts;
}

function print({ mutant, verdict, note }: Outcome): void {
  console.log(`${verdict.padEnd(14)} ${mutant.name.padEnd(36)} ${note}`);
  if (verdict !== "caught") console.log(`${" ".repeat(15)}breaks ${mutant.breaks}`);
}

function outputOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "stderr" in error && error.stderr !== "" ? String(error.stderr) : error.message;
}

function lastLine(output: string): string {
  return output.trim().split("\n").at(-1) ?? "";
}

await main();
