/**
 * Checks that code and documents use standard terms.
 *
 *   npm run check:words
 *
 * Exit 1 with file, line and the replacement for each old word. Identifiers are checked part by part ("openDeck" has "deck");
 * comments and documents only for words without another meaning.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Parts of identifiers and of file names, in lower case. */
const IN_NAMES = wordList({
  "reference text": "decoy decoys",
  "similarity normalizer": "yardstick yardsticks",
  "synonym, query expansion": "kindred kin reworded rewording",
  "IndexCache, NamespaceIndex": "shelf shelves desk desks",
  "scoring, features, scores": "judgement scoreboard",
  "single flight, waiters, grace": "flights aboard landed leash leashed",
  "orphan process, stale session": "straggler stragglers leftover leftovers",
  ServerContext: "deck decks",
  UseCaseContext: "kit kits",
  AccessPolicy: "gatekeeper",
  StorageLocation: "whereabouts",
  Environment: "world worlds",
  "smoke test": "proof proved",
  "module, layer": "rooms",
});

/** Complete identifiers: as parts of others these are ordinary words. */
const AS_NAMES = new Map([
  ["Side", "ModelIndex"],
  ["Work", "StepContext"],
]);

/** MCP's own term for tools that reach beyond the server, and the usual one for a file that everybody may read. */
const USUAL = /^openWorld|^worldReadable/;

const IN_PROSE = wordList({
  "reference text": "decoy decoys",
  "similarity normalizer": "yardstick",
  synonym: "kindred",
  IndexCache: "Shelf",
  ServerContext: "Deck",
  AccessPolicy: "Gatekeeper gatekeeper",
  waiters: "aboard",
});

interface Finding {
  readonly file: string;
  readonly line: number;
  readonly word: string;
  readonly say: string;
}

function main(): number {
  const files = execFileSync(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts", "*.md"],
    {
      cwd: ROOT,
      encoding: "utf8",
    },
  );
  const findings = files
    .split("\n")
    .filter((file) => file !== "" && !file.startsWith("test/data/") && file !== "CHANGELOG.md")
    .filter((file) => !file.includes("check-words"))
    .flatMap((file) => findingsIn(file, readFileSync(join(ROOT, file), "utf8")));
  for (const { file, line, word, say } of findings) console.error(`${file}:${line}: ${word}: say ${say}`);
  return findings.length === 0 ? 0 : 1;
}

/** The old words in a file. */
export function findingsIn(file: string, text: string): readonly Finding[] {
  const inName = partsOf(basename(file)).flatMap((word) => finding(file, 1, word, IN_NAMES.get(word)));
  return [...inName, ...(file.endsWith(".ts") ? inCode(file, text) : inProse(file, text, 0))];
}

function inCode(file: string, text: string): readonly Finding[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const findings: Finding[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      findings.push(...inIdentifier(file, lineAt(node.getStart(source)) + 1, node.text));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  const comments = text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm);
  for (const { 0: comment, index } of comments) findings.push(...inProse(file, comment, lineAt(index)));
  return findings;
}

function inIdentifier(file: string, line: number, name: string): readonly Finding[] {
  if (USUAL.test(name)) return [];
  const say =
    AS_NAMES.get(name) ??
    partsOf(name)
      .map((part) => IN_NAMES.get(part))
      .find(Boolean);
  return finding(file, line, name, say);
}

function inProse(file: string, text: string, linesBefore: number): readonly Finding[] {
  return text
    .split("\n")
    .flatMap((line, index) =>
      (line.match(/[A-Za-z]+/g) ?? []).flatMap((word) =>
        finding(file, linesBefore + index + 1, word, IN_PROSE.get(word)),
      ),
    );
}

function finding(file: string, line: number, word: string, say: string | undefined): readonly Finding[] {
  return say === undefined ? [] : [{ file, line, word, say }];
}

/** "openTestDeck" has "open", "test" and "deck". */
function partsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/);
}

/** From `{ say: "word word" }` to each word's replacement. */
function wordList(words: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(words).flatMap(([say, old]) => old.split(" ").map((word) => [word, say])));
}

if (import.meta.main) process.exitCode = main();
