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
import { applyEdits, type Mutant, readMutants } from "./mutants-list.ts";

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

/** The used fields of vitest's JSON report. */
interface TestRun {
  readonly passed: number;
  readonly failed: number;
  /** The reason for a missing report or missing tests. */
  readonly trouble?: string;
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
  const baseline = new Baseline();
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
  const unchanged = await baseline.of(mutant);
  if (unchanged.passed === 0 || unchanged.failed > 0) {
    const note =
      unchanged.trouble ?? `${unchanged.failed} of ${unchanged.passed + unchanged.failed} tests fail`;
    return { mutant, verdict: "TEST NOT GREEN", note: `without it: ${note}` };
  }
  return inCopy(async (copy) => {
    const refusal = await applyEdits(mutant.edits, copy);
    if (refusal !== undefined) return { mutant, verdict: "DOES NOT APPLY", note: refusal };
    const { passed, failed, trouble } = await runTest(mutant, copy);
    if (trouble !== undefined) return { mutant, verdict: "TEST NOT RUN", note: trouble };
    return failed === 0
      ? { mutant, verdict: "SURVIVED", note: `${passed} tests stay green` }
      : { mutant, verdict: "caught", note: `${failed} of ${passed + failed} tests turn red` };
  });
}

/** Runs each named test once on the unchanged tree. */
class Baseline {
  readonly #runs = new Map<string, Promise<TestRun>>();

  of(mutant: Mutant): Promise<TestRun> {
    const id = JSON.stringify(mutant.test);
    const known = this.#runs.get(id);
    if (known !== undefined) return known;
    const fresh = inCopy((copy) => runTest(mutant, copy));
    this.#runs.set(id, fresh);
    return fresh;
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
      await copyFile(join(root, file), join(copy, file)).catch(ignoreMissing); // deleted, and not yet committed
    }
    await symlink(join(root, "node_modules"), join(copy, "node_modules"));
    return await work(copy);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function runTest({ test }: Mutant, copy: string): Promise<TestRun> {
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

/** A file that does not load has no failed tests: the mutant is broken, not caught. */
async function readReport(report: string, stderr: string): Promise<TestRun> {
  const json = await readFile(report, "utf8").catch(() => undefined);
  if (json === undefined) return { passed: 0, failed: 0, trouble: `no report: ${lastLine(stderr)}` };
  const { numPassedTests = 0, numFailedTests = 0 }: Partial<Record<string, number>> = JSON.parse(json);
  const counts = { passed: numPassedTests, failed: numFailedTests };
  return counts.passed + counts.failed === 0
    ? { ...counts, trouble: "no test ran: wrong name, or it does not load" }
    : counts;
}

function print({ mutant, verdict, note }: Outcome): void {
  console.log(`${verdict.padEnd(14)} ${mutant.name.padEnd(36)} ${note}`);
  if (verdict !== "caught") console.log(`${" ".repeat(15)}${mutant.breaks}`);
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
}

function outputOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "stderr" in error && error.stderr !== "" ? String(error.stderr) : error.message;
}

function lastLine(output: string): string {
  return output.trim().split("\n").at(-1) ?? "";
}

await main();
