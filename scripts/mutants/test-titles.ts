/**
 * Finds the titles of the tests in a file without running it: vitest needs minutes to collect all tests.
 *
 * The run computes some parts of titles, such as `${column}` or a table's `%s`. Such a part stands for any text, name or number in
 * the tests' files, except those inside of tests. That accepts a few titles too many, but none whose words are gone.
 */
import { dirname, join } from "node:path";
import ts from "typescript";

// Two characters that stand in no title.
const COMPUTED = "\uE000";
/** vitest shortens a table's `$name`. */
const COMPUTED_SHORT = "\uE001";
const LONGEST_SHORT = 40;
/** vitest's separator of a group's title and a test's. */
export const BETWEEN_TITLES = " > ";
/** `test.each(TABLE)` takes no title: what it returns does. */
const TAKES_NO_TITLE = new Set(["each", "for", "skipIf", "runIf"]);

/** Returns undefined if there is no such file. */
export type ReadFile = (file: string) => string | undefined;

/** The tests of one file, including those of functions that it calls, such as contract suites. */
export interface TestTitles {
  readonly titles: readonly string[];
  /** What the computed parts can be. */
  readonly values: readonly string[];
}

/** Whether vitest would run one of the tests with `-t PATTERN`. */
export function hasTest({ titles, values }: TestTitles, pattern: RegExp): boolean {
  const matches = (title: string): boolean => pattern.test(title);
  return titles.some(matches) || titles.some((title) => completions(title, values).some(matches));
}

/** The title with each of the values in one of its computed parts. Trying them in all parts at once would take hours. */
function completions(title: string, values: readonly string[]): readonly string[] {
  return [...title.matchAll(/[\uE000\uE001]/g)].flatMap(({ 0: part, index }) => {
    const fit = part === COMPUTED ? values : values.map(shortened);
    return fit.map((value) => title.slice(0, index) + value + title.slice(index + 1));
  });
}

function shortened(value: string): string {
  return value.length > LONGEST_SHORT ? `${value.slice(0, LONGEST_SHORT - 1)}…` : value;
}

/** A parsed file. */
interface Module {
  readonly body: ts.SourceFile;
  readonly functions: ReadonlyMap<string, ts.FunctionDeclaration>;
  /** The names that it imports from the tests' own files, with these files. */
  readonly imports: ReadonlyMap<string, string>;
  readonly values: readonly string[];
}

/** A part of a module, and the groups and calls around it. */
interface Place {
  readonly module: Module;
  readonly groups: readonly string[];
  readonly calls: readonly ts.Node[];
}

export class TestFiles {
  readonly #read: ReadFile;
  readonly #modules = new Map<string, Module | undefined>();
  readonly #titles = new Map<string, TestTitles | undefined>();

  constructor(read: ReadFile) {
    this.#read = read;
  }

  /** Returns undefined if there is no such file. */
  titlesOf(file: string): TestTitles | undefined {
    if (!this.#titles.has(file)) this.#titles.set(file, this.#collect(file));
    return this.#titles.get(file);
  }

  #collect(file: string): TestTitles | undefined {
    const module = this.#module(file);
    if (module === undefined) return undefined;
    const values = [...this.#withImported(module)].flatMap((one) => one.values);
    return {
      titles: [...this.#titlesIn(module.body, { module, groups: [], calls: [] })],
      values: [...new Set(values)],
    };
  }

  *#titlesIn(node: ts.Node, place: Place): Generator<string> {
    if (ts.isFunctionDeclaration(node)) return; // its tests belong to its callers
    const declared = declarationOf(node);
    if (declared?.kind === "skipped") return;
    const groups = declared === undefined ? place.groups : [...place.groups, declared.title];
    if (declared?.kind === "test") {
      yield groups.join(BETWEEN_TITLES);
      return;
    }
    yield* this.#titlesOfCalled(node, place);
    for (const child of childrenOf(node)) yield* this.#titlesIn(child, { ...place, groups });
  }

  *#titlesOfCalled(node: ts.Node, { module, groups, calls }: Place): Generator<string> {
    if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return;
    const name = node.expression.text;
    const defining = module.functions.has(name) ? module : this.#module(module.imports.get(name));
    const body = defining?.functions.get(name)?.body;
    if (defining === undefined || body === undefined || calls.includes(body)) return;
    yield* this.#titlesIn(body, { module: defining, groups, calls: [...calls, body] });
  }

  #withImported(module: Module, found = new Set<Module>()): ReadonlySet<Module> {
    found.add(module);
    for (const file of module.imports.values()) {
      const imported = this.#module(file);
      if (imported !== undefined && !found.has(imported)) this.#withImported(imported, found);
    }
    return found;
  }

  #module(file: string | undefined): Module | undefined {
    if (file === undefined) return undefined;
    if (!this.#modules.has(file)) this.#modules.set(file, parse(file, this.#read(file)));
    return this.#modules.get(file);
  }
}

function parse(file: string, text: string | undefined): Module | undefined {
  if (text === undefined) return undefined;
  const body = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const functions = new Map<string, ts.FunctionDeclaration>();
  const imports = new Map<string, string>();
  const values: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionDeclaration(node) && node.name) functions.set(node.name.text, node);
    if (ts.isImportDeclaration(node)) {
      for (const name of namesFromTests(node, file)) imports.set(...name);
    } else {
      values.push(...valueIn(node));
      partsOutsideTests(node).forEach(visit);
    }
  };
  visit(body);
  return { body, functions, imports, values };
}

/** Of a test only its table and the computed parts of its title. */
function partsOutsideTests(node: ts.Node): readonly ts.Node[] {
  if (!ts.isCallExpression(node) || declarationOf(node)?.kind !== "test") return childrenOf(node);
  return [node.expression, ...node.arguments.slice(0, 1).flatMap(childrenOf)];
}

function namesFromTests(
  { importClause, moduleSpecifier }: ts.ImportDeclaration,
  importer: string,
): readonly (readonly [name: string, file: string])[] {
  const bindings = importClause?.namedBindings;
  if (bindings === undefined || !ts.isNamedImports(bindings) || !ts.isStringLiteral(moduleSpecifier))
    return [];
  const file = join(dirname(importer), moduleSpecifier.text);
  const isOfTests = moduleSpecifier.text.startsWith(".") && file.startsWith("test/");
  return isOfTests ? bindings.elements.map(({ name }) => [name.text, file]) : [];
}

function valueIn(node: ts.Node): readonly string[] {
  if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) return [node.text];
  if (ts.isTemplateExpression(node)) return [titleOf(node)];
  return ts.isPropertyAssignment(node) && ts.isIdentifier(node.name) ? [node.name.text] : [];
}

interface Declaration {
  readonly kind: "group" | "test" | "skipped";
  readonly title: string;
}

/** What a call like `test("…")`, `describe.each(TABLE)("…")` or `it.skipIf(why)("…")` declares. Undefined for other nodes. */
function declarationOf(node: ts.Node): Declaration | undefined {
  if (!ts.isCallExpression(node) || node.arguments[0] === undefined) return undefined;
  const { expression } = node;
  if (ts.isPropertyAccessExpression(expression) && TAKES_NO_TITLE.has(expression.name.text)) return undefined;
  const [root, ...modifiers] = namesIn(expression);
  if (root !== "describe" && root !== "it" && root !== "test") return undefined;
  const title = titleOf(node.arguments[0]);
  const isTable = modifiers.includes("each") || modifiers.includes("for");
  const isSkipped = modifiers.includes("skip") || modifiers.includes("todo");
  const kind = root === "describe" ? "group" : "test";
  return { kind: isSkipped ? "skipped" : kind, title: isTable ? withComputed(title) : title };
}

/** `["describe", "skipIf", "each"]` for `describe.skipIf(why).each(TABLE)`. */
function namesIn(called: ts.Expression): readonly string[] {
  if (ts.isIdentifier(called)) return [called.text];
  if (ts.isPropertyAccessExpression(called)) return [...namesIn(called.expression), called.name.text];
  return ts.isCallExpression(called) ? namesIn(called.expression) : ["(nameless)"];
}

function titleOf(expression: ts.Expression): string {
  if (ts.isStringLiteralLike(expression)) return expression.text;
  if (ts.isBinaryExpression(expression)) return titleOf(expression.left) + titleOf(expression.right);
  if (!ts.isTemplateExpression(expression)) return COMPUTED;
  const { head, templateSpans } = expression;
  return [head, ...templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join(COMPUTED);
}

function withComputed(title: string): string {
  return title.replace(/%[sdifjoOc#$]/g, COMPUTED).replace(/\$[$\p{ID_Continue}.]+/gu, COMPUTED_SHORT);
}

function childrenOf(node: ts.Node): readonly ts.Node[] {
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  return children;
}
