/**
 * Checks that each mutant of test/mutants/ names a test that exists: rewording a title must not disable a mutant.
 *
 *   npm run check:mutants
 *
 * Exit 1 with one line for each mutant whose test file is missing, and for each part of its pattern that names no test of the file.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Mutant, readMutants } from "./mutants-list.ts";
import { hasTest, type ReadFile, TestFiles } from "./test-titles.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

async function main(): Promise<number> {
  const problems = problemsOf(await readMutants(join(ROOT, "test", "mutants")), readIfThere);
  for (const problem of problems) console.error(problem);
  return problems.length === 0 ? 0 : 1;
}

export function problemsOf(
  mutants: readonly Pick<Mutant, "name" | "test">[],
  read: ReadFile,
): readonly string[] {
  const files = new TestFiles(read);
  return mutants.flatMap(({ name: mutant, test: { file, name = "" } }) => {
    const titles = files.titlesOf(file);
    if (titles === undefined) return [`${mutant}: there is no ${file}`];
    return alternativesOf(name)
      .filter((alternative) => !hasTest(titles, new RegExp(alternative)))
      .map((alternative) => `${mutant}: ${file} has no test that matches ${JSON.stringify(alternative)}`);
  });
}

/** `["a c", "b c"]` of `"(a|b) c"`: each must name a test. */
function alternativesOf(pattern: string): readonly string[] {
  const [group, choices] = /\(([^()]*)\)/.exec(pattern) ?? [];
  if (group === undefined || choices === undefined) return pattern.split("|");
  return choices.split("|").flatMap((choice) => alternativesOf(pattern.replace(group, () => choice)));
}

function readIfThere(file: string): string | undefined {
  const path = join(ROOT, file);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

if (import.meta.main) process.exitCode = await main();
