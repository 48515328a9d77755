/**
 * Checks that a test verifies every promise in docs/promises.md, that a mutant breaks every promise about data, secrecy, isolation
 * and access, and that tests and mutants name only existing promises.
 *
 *   npm run check:promises
 *
 * A test names the ids in a separate line directly above it: `// verifies P-durable-kill, P-durable-sync`. Exit 1 with one line
 * for each promise without a test or mutant, each unknown or repeated id, and each such line without a test below it.
 * docs/security-model.md may name only existing ids.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Mutant, readMutants } from "./mutants/mutants-list.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DOCUMENT = "docs/promises.md";
const MENTIONS = "docs/security-model.md";
const MUTANTS = "test/mutants";
/** Sections whose promises need no mutant. */
const WITHOUT_MUTANTS: readonly string[] = ["It stays out of the way", "It is made of what was reviewed"];

const SECTION = /^## (.*)$/;
const ROW = /^\| `(P-[^`]*)` \|/;
const MENTION = /`(P-[^`]*)`/g;
const ID = /^P-[a-z0-9]+(-[a-z0-9]+)*$/;
const NAMING = /^\s*\/\/ verifies\b:?\s*(.*)$/;
/** The line below must be a test or a group of tests that runs. */
const TEST = /^\s*(describe|test|it)(\.(each|concurrent|sequential|runIf|skipIf)\b.*)?[(<`]/;

interface TextFile {
  readonly file: string;
  readonly text: string;
}

interface Named {
  readonly id: string;
  readonly at: string;
}

interface Promised extends Named {
  readonly needsMutant: boolean;
}

async function main(): Promise<number> {
  const tests = globSync("test/**/*.test.ts", { cwd: ROOT }).sort().map(read);
  const mutants = await readMutants(join(ROOT, MUTANTS));
  const problems = problemsIn(read(DOCUMENT), tests, mutants, read(MENTIONS));
  for (const problem of problems) console.error(problem);
  return problems.length === 0 ? 0 : 1;
}

/** Mismatches between the promises and the tests, mutants and texts that name them. */
export function problemsIn(
  document: TextFile,
  tests: readonly TextFile[],
  mutants: readonly Pick<Mutant, "name" | "breaks">[],
  mentions: TextFile,
): readonly string[] {
  const promised = promisesIn(document);
  const known = new Set(promised.map(({ id }) => id));
  const named = tests.flatMap(namedIn);
  const verified = new Set(named.map(({ id }) => id));
  const broken = mutants.map(({ name, breaks }) => ({ id: breaks, at: `${MUTANTS}: ${name}` }));
  const canBreak = new Set(broken.map(({ id }) => id));
  return [
    ...(promised.length === 0 ? [`${document.file}: no promise found`] : []),
    ...promised.filter(({ id }) => !ID.test(id)).map(({ id, at }) => `${at}: ${id}: not the form of an id`),
    ...repeated(promised).map(({ id, at }) => `${at}: ${id}: this id is taken`),
    ...promised
      .filter(({ id }) => !verified.has(id))
      .map(({ id, at }) => `${at}: ${id}: no test verifies it`),
    ...promised
      .filter(({ id, needsMutant }) => needsMutant && !canBreak.has(id))
      .map(({ id, at }) => `${at}: ${id}: no mutant breaks it`),
    ...[...named, ...broken, ...mentionedIn(mentions)]
      .filter(({ id }) => !known.has(id))
      .map(({ id, at }) => `${at}: ${id}: not in ${document.file}`),
    ...tests.flatMap(aboveNoTest),
  ];
}

function promisesIn({ file, text }: TextFile): readonly Promised[] {
  let section = "";
  return text.split("\n").flatMap((line, index) => {
    section = SECTION.exec(line)?.[1] ?? section;
    const id = ROW.exec(line)?.[1];
    const needsMutant = !WITHOUT_MUTANTS.includes(section);
    return id === undefined ? [] : [{ id, at: `${file}:${index + 1}`, needsMutant }];
  });
}

function namedIn({ file, text }: TextFile): readonly Named[] {
  return text.split("\n").flatMap((line, index) => {
    const ids = NAMING.exec(line)?.[1];
    return ids === undefined
      ? []
      : ids.split(",").map((id) => ({ id: id.trim(), at: `${file}:${index + 1}` }));
  });
}

function mentionedIn({ file, text }: TextFile): readonly Named[] {
  return text
    .split("\n")
    .flatMap((line, index) =>
      [...line.matchAll(MENTION)].map(([, id = ""]) => ({ id, at: `${file}:${index + 1}` })),
    );
}

function aboveNoTest({ file, text }: TextFile): readonly string[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) =>
    NAMING.test(line) && !TEST.test(lines[index + 1] ?? "")
      ? [`${file}:${index + 1}: stands above no test, or above one that is left out`]
      : [],
  );
}

function repeated(promised: readonly Named[]): readonly Named[] {
  return promised.filter(({ id }, index) => promised.findIndex((other) => other.id === id) < index);
}

function read(file: string): TextFile {
  return { file, text: readFileSync(join(ROOT, file), "utf8") };
}

if (import.meta.main) process.exitCode = await main();
