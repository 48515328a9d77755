/** Finds imports of seam/ in one file, in every form, and texts from which an import could be built. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

export interface Hit {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

/** Functions that take a module name. */
const LOADS = /(?:^|\.)(?:require|resolve|import|mock|doMock|register|importActual|importOriginal)$/;

export class SeamImports {
  readonly #root: string;
  readonly #seam: string;
  readonly #options: ts.CompilerOptions;
  readonly #packageName: string | undefined;

  constructor(root: string) {
    this.#root = realpathSync(root);
    this.#seam = realpathSync(join(root, "seam"));
    this.#options = readOptions(this.#root);
    this.#packageName = readPackageName(this.#root);
  }

  /** `shown`: the file's name in the result. */
  in(path: string, shown: string): readonly Hit[] {
    if (this.#isInside(realpathSync(path))) return [{ file: shown, line: 1, text: "(a link into seam/)" }];
    const source = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
    const lines = new Map<number, string>();
    const note = (position: number): void => {
      const { line } = source.getLineAndCharacterOfPosition(position);
      lines.set(line + 1, (source.text.split(/\r?\n/)[line] ?? "").trim());
    };
    for (const reference of [...source.referencedFiles, ...source.typeReferenceDirectives]) {
      if (this.#leadsIn(reference.fileName, path)) note(reference.pos);
    }
    const visit = (node: ts.Node): void => {
      if (this.#isHit(node, path)) note(node.getStart(source));
      ts.forEachChild(node, visit);
    };
    visit(source);
    return [...lines].sort(([a], [b]) => a - b).map(([line, text]) => ({ file: shown, line, text }));
  }

  /** Any text that names a module in seam/; also a partial name in a load call. */
  #isHit(node: ts.Node, path: string): boolean {
    if (ts.isStringLiteralLike(node)) return this.#leadsIn(node.text, path);
    if (ts.isCallExpression(node) && isLoad(node)) return node.arguments.some(isComputedSeam);
    return false;
  }

  #leadsIn(specifier: string, path: string): boolean {
    if (specifier === "" || specifier.length > 1_000 || /[\n ]/.test(specifier)) return false;
    const named = withoutQuery(specifier);
    if (this.#packageName !== undefined && isUnder(named, `${this.#packageName}/seam`)) return true;
    const place = placeOf(named, dirname(path));
    if (place !== undefined) return this.#isInside(place) || this.#isInside(realPlace(place));
    return this.#resolvesInside(named, path);
  }

  /** Resolves aliases of tsconfig.json and package.json, like the compiler. */
  #resolvesInside(specifier: string, path: string): boolean {
    const { resolvedModule } = ts.resolveModuleName(specifier, path, this.#options, ts.sys);
    return resolvedModule !== undefined && this.#isInside(realPlace(resolvedModule.resolvedFileName));
  }

  /** Ignores case, because some file systems do not distinguish `Seam` and `seam`. */
  #isInside(place: string): boolean {
    return isUnder(place.toLowerCase(), this.#seam.toLowerCase());
  }
}

function isLoad(call: ts.CallExpression): boolean {
  return call.expression.kind === ts.SyntaxKind.ImportKeyword || LOADS.test(call.expression.getText());
}

/** Computed names with seam as a segment: `root + "/seam/index.ts"`, `join(root, "seam")`. */
function isComputedSeam(argument: ts.Node): boolean {
  return !ts.isStringLiteralLike(argument) && hasSegment(argument);
}

function hasSegment(node: ts.Node): boolean {
  if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
    return /(?:^|[/\\])seam(?:[/\\]|$)/i.test(node.text);
  }
  return ts.forEachChild(node, hasSegment) ?? false;
}

/** The file of a path or file URL; undefined for a package name or an alias. Node decodes %XX in both. */
function placeOf(specifier: string, folder: string): string | undefined {
  try {
    if (/^file:/i.test(specifier)) return fileURLToPath(specifier);
    if (!/^(?:\.{1,2})?\//.test(specifier)) return undefined;
    return resolve(folder, decodeURIComponent(specifier));
  } catch {
    return undefined;
  }
}

function realPlace(place: string): string {
  try {
    return realpathSync(place);
  } catch {
    return place;
  }
}

function withoutQuery(specifier: string): string {
  const [path = ""] = specifier.split(/[?]|(?<!^)#/, 1);
  return path;
}

function isUnder(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`) || path.startsWith(`${folder}/`);
}

function readOptions(root: string): ts.CompilerOptions {
  const file = join(root, "tsconfig.json");
  const { config = {} } = existsSync(file) ? ts.readConfigFile(file, ts.sys.readFile) : {};
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions ?? {}, root, file);
  return { ...options, pathsBasePath: options.baseUrl ?? root, configFilePath: file };
}

function readPackageName(root: string): string | undefined {
  const file = join(root, "package.json");
  if (!existsSync(file)) return undefined;
  const { name }: { readonly name?: unknown } = JSON.parse(readFileSync(file, "utf8"));
  return typeof name === "string" ? name : undefined;
}
