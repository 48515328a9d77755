/** The documentation pages: the README, docs/ and other top-level documents. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import MarkdownIt from "markdown-it";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGES = [
  "*.md",
  "docs/**/*.md",
  "examples/*/*.md",
  "plugin/README.md",
  "test/**/README.md",
  ".github/**/*.md",
];

export interface Page {
  /** Relative to the repository's root. */
  readonly file: string;
  readonly text: string;
}

export const markdown = new MarkdownIt({ html: true });

export function readPages(): readonly Page[] {
  return PAGES.flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
    .sort()
    .map((file) => ({ file, text: readFileSync(join(ROOT, file), "utf8") }));
}

/** The anchors of headings, as GitHub and TypeDoc generate them. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const heading of headingsOf(text)) {
    const plain = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s/g, "-");
    let anchor = plain;
    for (let again = 1; anchors.has(anchor); again += 1) anchor = `${plain}-${again}`;
    anchors.add(anchor);
  }
  for (const [, id = ""] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id);
  return anchors;
}

function headingsOf(text: string): readonly string[] {
  const tokens = markdown.parse(text, {});
  return tokens.flatMap((token, at) =>
    token.type === "heading_open" ? [wordsOf(tokens[at + 1]?.children ?? [])] : [],
  );
}

interface Inline {
  readonly type: string;
  readonly content: string;
}

function wordsOf(children: readonly Inline[]): string {
  return children
    .map(({ type, content }) => (type === "text" || type === "code_inline" ? content : ""))
    .join("");
}
