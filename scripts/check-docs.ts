/**
 * Checks the documents: links and anchors have a target, no old phrases are used, and each command that is marked runnable
 * runs.
 *
 *   npm run check:docs            # links, anchors and phrases, then the tests that run the pages' commands (test/docs)
 *   node scripts/check-docs.ts    # without the commands
 *
 * Exit 1 with file, line and problem. External addresses are not checked.
 */
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { anchorsOf, markdown, type Page, ROOT, readPages } from "./docs-pages.ts";
import { OLD_PHRASES } from "./old-phrases.ts";

/** Its released sections stay as they were published. */
const CHANGELOG = "CHANGELOG.md";

function main(): number {
  const tests = globSync("test/docs/*.test.ts", { cwd: ROOT }).map((file) =>
    readFileSync(join(ROOT, file), "utf8"),
  );
  const problems = readPages().flatMap((page) => [
    ...linkProblems(page),
    ...phraseProblems(page),
    ...commandProblems(page, tests),
  ]);
  for (const problem of problems) console.error(problem);
  return problems.length === 0 ? 0 : 1;
}

/** A console block shows real output, so a test must run it. */
export function commandProblems({ file, text }: Page, tests: readonly string[]): readonly string[] {
  const name = basename(file).replaceAll(".", "\\.");
  const isRun = tests.some((test) => new RegExp(`["/]${name}["\`]`).test(test));
  return /^```console/m.test(text) && !isRun ? [`${file}: no test of test/docs runs its console blocks`] : [];
}

export function phraseProblems({ file, text }: Page): readonly string[] {
  if (file === CHANGELOG) return [];
  const words = text.replace(/\s+/g, " ").toLowerCase();
  return OLD_PHRASES.filter(([phrase]) => words.includes(phrase.toLowerCase())).map(
    ([phrase, say]) => `${file}: "${phrase}": say ${say}`,
  );
}

/** Problems of a page's links and pictures without a target in this repository. */
export function linkProblems({ file, text }: Page): readonly string[] {
  return targetsOf(text).flatMap(({ target, line }) => {
    const problem = target.startsWith("#")
      ? headingProblem(text, target.slice(1))
      : problemOf(target, join(ROOT, file));
    return problem === undefined ? [] : [`${file}:${line}: ${target}: ${problem}`];
  });
}

interface Target {
  readonly target: string;
  readonly line: number;
}

function targetsOf(text: string): readonly Target[] {
  return markdown.parse(text, {}).flatMap(({ children, map }) =>
    (children ?? []).flatMap((token) => {
      const target = token.attrGet("href") ?? token.attrGet("src");
      return target === null ? [] : [{ target: String(target), line: (map?.[0] ?? 0) + 1 }];
    }),
  );
}

function problemOf(target: string, from: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return undefined;
  const [path = "", anchor] = target.split("#");
  const file = resolve(dirname(from), decodeURIComponent(path));
  if (relative(ROOT, file).startsWith("..")) return "leads out of the repository";
  if (!existsSync(file)) return "there is no such file";
  if (anchor === undefined || !file.endsWith(".md") || statSync(file).isDirectory()) return undefined;
  return headingProblem(readFileSync(file, "utf8"), anchor);
}

function headingProblem(text: string, anchor: string): string | undefined {
  return anchorsOf(text).has(decodeURIComponent(anchor)) ? undefined : "there is no such heading";
}

if (import.meta.main) process.exitCode = main();
