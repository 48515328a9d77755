/**
 * The frozen list of names that seam/ may import from the engine. A new name is a change of the engine and needs a decision record
 * (docs/decisions/0022-the-engines-reader-surface.md). The compiler rejects this file until both lists agree.
 */
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import type * as reader from "../../engine/reader.ts";

type Same<Left, Right> = [Left] extends [Right] ? ([Right] extends [Left] ? true : false) : false;

/** Everything that exists at run time. */
type Values =
  | "DEFAULT_CATEGORY"
  | "FACT_LIMITS"
  | "HelmdeckError"
  | "findKey"
  | "harmlessBlock"
  | "harmlessLine"
  | "isHelmdeckError"
  | "isReservedCategory"
  | "namespaceOf"
  | "openSqliteReader";

/** All names, including types. */
const NAMES = [
  "DEFAULT_CATEGORY",
  "Entry",
  "FACT_LIMITS",
  "HelmdeckError",
  "KeyPlaces",
  "MemoryReader",
  "Namespace",
  "SqliteDriver",
  "Subject",
  "findKey",
  "harmlessBlock",
  "harmlessLine",
  "isHelmdeckError",
  "isReservedCategory",
  "namespaceOf",
  "openSqliteReader",
];

const valuesAreTheseAndNoOthers: Same<keyof typeof reader, Values> = true;
/** The object that the seam gets when it opens memory has no method that could write. */
const readersCannotWrite: Same<
  Extract<keyof reader.MemoryReader, `put${string}` | `delete${string}` | `write${string}` | "store">,
  never
> = true;

const root = join(import.meta.dirname, "..", "..");

/** Names that a module exports, as the compiler sees them. */
function exportsOf(file: string, source?: string): readonly string[] {
  const host = ts.createCompilerHost({});
  const { getSourceFile } = host;
  host.getSourceFile = (name, ...rest) =>
    name === file && source !== undefined
      ? ts.createSourceFile(name, source, ts.ScriptTarget.Latest)
      : getSourceFile.call(host, name, ...rest);
  const options = { noResolve: true, noLib: true, allowImportingTsExtensions: true };
  const program = ts.createProgram([file], options, host);
  const found = program.getSourceFile(file);
  const symbol = found && program.getTypeChecker().getSymbolAtLocation(found);
  return symbol
    ? program
        .getTypeChecker()
        .getExportsOfModule(symbol)
        .map(({ name }) => name)
        .sort()
    : [];
}

test("the reader surface has exactly the listed names, including types", () => {
  expect([valuesAreTheseAndNoOthers, readersCannotWrite]).toEqual([true, true]);
  expect(exportsOf(join(root, "engine", "reader.ts"))).toEqual(NAMES);
});

test("an additional name is detected, even a type", () => {
  const file = join(root, "engine", "reader.ts");
  const wider = `${ts.sys.readFile(file)}\nexport type { MemoryStore } from "./memory/contract.ts";\n`;
  expect(exportsOf(file, wider)).toEqual([...NAMES, "MemoryStore"].sort());
});

test("the seam imports only that surface from other modules", () => {
  const specifiers = ts.sys
    .readDirectory(join(root, "seam"), [".ts"])
    .flatMap((file) =>
      ts.preProcessFile(ts.sys.readFile(file) ?? "").importedFiles.map(({ fileName }) => fileName),
    );
  const ours = new Set(specifiers.filter((specifier) => specifier.startsWith("../")));
  expect([...ours]).toEqual(["../engine/reader.ts"]);
});
