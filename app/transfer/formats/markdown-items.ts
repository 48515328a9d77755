/**
 * Splits any Markdown into items: each top-level list item with its nested content, and each paragraph, quote, table or code
 * block, under its headings. The text is kept as written.
 *
 * Skips front matter but for a category, comments, link definitions, thematic breaks, and headings themselves. A title (a single leading heading of
 * level one) adds no name. A paragraph that ends in a colon before a list acts as that list's heading. A code block belongs to
 * the paragraph before it.
 *
 * A file may come from anywhere: nesting is limited, and nothing is parsed within a line.
 */
import MarkdownIt from "markdown-it";
import { defined } from "../../../engine/defined.ts";

export interface MarkdownItem {
  readonly line: number;
  readonly headings: readonly string[];
  readonly text: string;
  /** The comment directly before the item, or before its list. */
  readonly comment?: string;
}

export interface LeftOut {
  readonly line: number;
  readonly leftOut: string;
  /** Named by front matter. */
  readonly category?: string;
}

const MOST_NESTING = 32;
const FRONT_MATTER_BEGINS = /^---[ \t]*\n/;
const FRONT_MATTER_ENDS = /\n(?:---|\.\.\.)[ \t]*(?:\n|$)/g;
const CATEGORY = /^category:[ \t]*(["']?)([^\s"']+)\1[ \t]*$/m;
const WHOLE_COMMENT = /^<!--([\s\S]*?)-->\s*$/;
const BULLET = /^\s*(?:[-+*]|\d{1,9}[.)])(?:\s+|$)/;

type Token = ReturnType<InstanceType<typeof MarkdownIt>["parse"]>[number];

interface Block {
  readonly type: string;
  /** Level of the heading. */
  readonly depth: number;
  /** From 0. */
  readonly line: number;
  readonly text: string;
  /** For a list, the lines of its items. */
  readonly items: readonly { readonly line: number; readonly text: string }[];
}

export function* markdownItems(markdown: string): Generator<MarkdownItem | LeftOut> {
  const source = markdown.replace(/^\uFEFF/, "").replaceAll(/\r\n?/g, "\n");
  const front = frontMatterOf(source);
  const category = CATEGORY.exec(front)?.[2];
  if (front !== "") yield { line: 1, leftOut: "front matter", ...defined({ category }) };
  // Keeps line numbers.
  const body = front.replaceAll(/[^\n]/g, "") + source.slice(front.length);
  const walk = new Walk();
  for (const block of blocksOf(body)) yield* walk.take(block);
  yield* walk.finish();
}

/** Finds the start and then the end: a single regular expression exhausts the stack on a long file. */
function frontMatterOf(source: string): string {
  const begin = FRONT_MATTER_BEGINS.exec(source);
  if (begin === null) return "";
  FRONT_MATTER_ENDS.lastIndex = begin[0].length - 1;
  const end = FRONT_MATTER_ENDS.exec(source);
  return end === null ? "" : source.slice(0, end.index + end[0].length);
}

/** State while blocks are read. */
class Walk {
  #headings: { readonly depth: number; readonly text: string }[] = [];
  #isFirst = true;
  #intro: string | undefined;
  #comment: string | undefined;
  /** A paragraph, until the next block is known. */
  #paragraph: MarkdownItem | undefined;

  *take(block: Block): Generator<MarkdownItem | LeftOut> {
    const line = block.line + 1;
    if (block.type === "code" && this.#paragraph !== undefined) {
      const { text } = this.#paragraph;
      this.#paragraph = { ...this.#paragraph, text: `${text}\n\n${block.text}` };
      return;
    }
    if (block.type === "list" && this.#paragraph?.text.trimEnd().endsWith(":")) {
      this.#intro = this.#paragraph.text;
      this.#paragraph = undefined;
    }
    yield* this.finish();
    switch (block.type) {
      case "heading":
        return this.#underHeading(block);
      case "list":
        for (const item of block.items) yield this.#itemOf({ ...item, line: item.line + 1 });
        this.#intro = undefined;
        this.#comment = undefined;
        return;
      case "comment":
        this.#comment = block.text;
        return yield { line, leftOut: "a comment" };
      case "link":
        return yield { line, leftOut: "a link definition" };
      default:
        this.#paragraph = this.#itemOf({ line, text: block.text });
        this.#comment = undefined;
    }
  }

  *finish(): Generator<MarkdownItem> {
    if (this.#paragraph !== undefined) yield this.#paragraph;
    this.#paragraph = undefined;
  }

  #underHeading({ depth, text }: Block): void {
    const isTitle = this.#isFirst && depth === 1;
    this.#comment = undefined;
    this.#isFirst = false;
    this.#headings = this.#headings.filter((above) => above.depth < depth);
    if (!isTitle) this.#headings.push({ depth, text });
  }

  #itemOf({ line, text }: Pick<MarkdownItem, "line" | "text">): MarkdownItem {
    const headings = [
      ...this.#headings.map((heading) => heading.text),
      ...(this.#intro ? [this.#intro] : []),
    ];
    return {
      line,
      headings,
      text: withoutComments(text),
      ...(this.#comment !== undefined && { comment: this.#comment }),
    };
  }
}

function* blocksOf(source: string): Generator<Block> {
  const parser = new MarkdownIt({ html: true, maxNesting: MOST_NESTING });
  parser.core.ruler.enableOnly(["normalize", "block"]);
  const lines = source.split("\n");
  const tokens = parser.parse(source, {});
  for (const [index, token] of tokens.entries()) {
    if (token.level !== 0 || token.map === null || token.nesting === -1) continue;
    const text = sourceOf(lines, token.map);
    const items = token.type.endsWith("_list_open") ? [...itemsOf(tokens, index, lines)] : [];
    const type = typeOf(token, text);
    if (type === "rule") continue;
    const shown = type === "heading" ? (tokens[index + 1]?.content ?? "") : text;
    const comment = type === "comment" ? (WHOLE_COMMENT.exec(text.trim())?.[1] ?? "").trim() : shown;
    yield { type, depth: Number(token.tag.slice(1)) || 0, line: token.map[0], text: comment, items };
  }
}

function typeOf({ type }: Token, text: string): string {
  if (type === "heading_open") return "heading";
  if (type.endsWith("_list_open")) return "list";
  if (type === "fence" || type === "code_block") return "code";
  if (type === "hr") return "rule";
  if (type === "reference_definition") return "link";
  return type === "html_block" && WHOLE_COMMENT.test(text.trim()) ? "comment" : "text";
}

/** The list's own items, without nested ones. */
function* itemsOf(tokens: readonly Token[], start: number, lines: readonly string[]) {
  for (let index = start + 1; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token === undefined || token.level === 0) return;
    if (token.type !== "list_item_open" || token.level !== 1 || token.map === null) continue;
    yield { line: token.map[0], text: withoutBullet(sourceOf(lines, token.map)) };
  }
}

function sourceOf(lines: readonly string[], [from, to]: readonly [number, number]): string {
  return lines.slice(from, to).join("\n").trimEnd();
}

/** Removes the bullet, and the same indentation from nested lines. */
function withoutBullet(text: string): string {
  const [first = "", ...others] = text.split("\n");
  const width = BULLET.exec(first)?.[0].length ?? 0;
  const rest = others.map((line) => {
    const indent = /^\s*/.exec(line)?.[0].length ?? 0;
    return line.slice(Math.min(indent, width));
  });
  return [first.slice(width), ...rest].join("\n");
}

/** A regular expression would be quadratic on long runs of blanks. */
function withoutBlanksBehind(text: string): string {
  let end = text.length;
  while (text[end - 1] === " " || text[end - 1] === "\t") end -= 1;
  return text.slice(0, end);
}

/** Keeps comments within code, between equal runs of backticks. */
function withoutComments(text: string): string {
  const marks = [...text.matchAll(/`+|<!--|-->/g)];
  const ends = endsOf(marks.map(([mark]) => mark));
  let kept = "";
  let at = 0;
  for (let n = 0; n < marks.length; n = (ends[n] ?? n) + 1) {
    const [begin, end] = [marks[n], marks[ends[n] ?? -1]];
    if (begin?.[0] !== "<!--" || end === undefined) continue;
    kept += withoutBlanksBehind(text.slice(at, begin.index));
    at = end.index + end[0].length;
  }
  return (kept + text.slice(at)).trim();
}

/** For each mark, which one ends what it begins. Found backwards: to look ahead from each would be quadratic. */
function endsOf(marks: readonly string[]): readonly (number | undefined)[] {
  const next = new Map<string, number>();
  const ends = marks.toReversed().map((mark, fromEnd) => {
    const end = mark === "-->" ? undefined : next.get(mark === "<!--" ? "-->" : mark);
    next.set(mark, marks.length - 1 - fromEnd);
    return end;
  });
  return ends.reverse();
}
