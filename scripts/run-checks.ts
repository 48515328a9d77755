/**
 * Runs the given checks, two at a time, and prints the output of those that fail.
 *
 *   node scripts/run-checks.ts types style …
 */
import { execa } from "execa";
import PQueue from "p-queue";

const AT_ONCE = 2;

async function main(names: readonly string[]): Promise<number> {
  const checks = new PQueue({ concurrency: AT_ONCE });
  const passed = await checks.addAll(names.map((name) => () => check(name)));
  return passed.every(Boolean) ? 0 : 1;
}

async function check(name: string): Promise<boolean> {
  const { failed, all } = await execa("npm", ["run", "--silent", `check:${name}`], {
    all: true,
    reject: false,
  });
  if (failed) console.error(`check:${name} failed:\n${all}\n`);
  return !failed;
}

process.exitCode = await main(process.argv.slice(2));
