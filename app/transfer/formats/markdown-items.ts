/**
 * Splits any Markdown into items: each top-level list item with its nested content, and each paragraph, quote, table or code
 * block, under its headings. The text is kept as written.
 *
 * Leaves out, and names: front matter but for a category, comments, link definitions, a title (a single leading heading of level
 * one) and headings with nothing under them. A paragraph that ends in a colon before a list acts as that list's heading. A code
 * block belongs to the paragraph before it. What looks like one of these, but is not, is an item.
 *
 * A file may come from anywhere: nesting is limited, nothing is parsed within a line, and the text is parsed at most twice.
 */
import MarkdownIt from "markdown-it";
import { isMap, isScalar, parseDocument } from "yaml";
import { defined } from "../../../engine/defined.ts";
import { type Lines, linesOf } from "./format.ts";
import { isWholeSlug } from "./note-keys.ts";

export interface MarkdownItem {
  readonly line: number;
  readonly headings: readonly string[];
  readonly text: string;
  /** The comment directly before the item, or before its list. */
  readonly comment?: string;
}

export interface LeftOut extends Lines {
  readonly leftOut: string;
  /** Named by front matter. */
  readonly category?: string;
}

const MOST_NESTING = 32;
const MOST_FRONT_MATTER_LINES = 200;
const RULE = /^---[ \t]*$/;
const FRONT_MATTER_ENDS = /^(?:---|\.\.\.)[ \t]*$/;
const PLAIN_KEY = /^[A-Za-z_][\w-]*$/;
const WHOLE_COMMENT = /^<!--([\s\S]*?)-->\s*$/;
/** Where people's text leads to, unlike a note in the form of a definition. */
const LINK = /^\s*\[[^\]]*\]:\s*<?(?:[a-z][a-z\d+.-]*:|[./#])/i;
/** What other programs and pages write before an entry; a dash is one only in a list of its own. */
const ODD_BULLET = /^[•‣⁃◦∙·▪▫●○■□➤►▸]\s*(?=\S)/;
const ODD_DASH = /^[–—―−]\s+(?=\S)/;
const BEFORE_LIST = /^$|^#|(?::|\*\*)\s*$/;
const SIGN = /^(?:[-+*]|\d{1,9}[.)]|#{1,6})(?=\s)/;
const BULLET = /^\s*(?:(?:[-+*–—―−]|\d{1,9}[.)])(?:\s+|$)|[•‣⁃◦∙·▪▫●○■□➤►▸]\s*)/;
/** An entry in the text of an assistant's memory: `[2026-03-01] - Lives in Delft`, `[unknown] - …`, `[2026-03-01]. …`. */
const ENTRY =
  /^(?:\*\*)?\[(?:\d{4}-\d\d-\d\d\](?:\*\*)?\.?(?:\s*[-–—:])?|[^\]]{1,40}\](?:\*\*)?\s*[-–—])\s+\S/;
/** One that makes a code block an answer: a log has times. */
const DATED_ENTRY =
  /^(?:[-*+]\s+|\d{1,9}[.)]\s+)?(?:\*\*)?\[(?:\d{4}-\d\d-\d\d|(?:date )?unknown|no date)\]/i;
/** The languages of a code block that can be an assistant's whole answer. */
const PLAIN_CODE = ["", "text", "txt", "plaintext", "markdown", "md"];

type Token = ReturnType<InstanceType<typeof MarkdownIt>["parse"]>[number];

interface Block {
  readonly type: string;
  /** Level of the heading. */
  readonly depth: number;
  /** From 0, and the line after the last one. */
  readonly map: readonly [number, number];
  readonly text: string;
  /** For a list, the lines of its items. */
  readonly items: readonly { readonly line: number; readonly text: string }[];
}

export function* markdownItems(markdown: string): Generator<MarkdownItem | LeftOut> {
  const lines = markdown
    .replace(/^\uFEFF/, "")
    .replaceAll(/\r\n?/g, "\n")
    .split("\n");
  const front = frontMatterOf(lines);
  if (front !== undefined) yield front;
  const walk = new Walk();
  for (const block of blocksOf(lines.fill("", 0, front?.to ?? 0))) yield* walk.take(block);
  yield* walk.finish(0);
}

/** Only a mapping of plain keys: a line of dashes also stands above what somebody wrote. */
function frontMatterOf(lines: readonly string[]): LeftOut | undefined {
  const begin = lines.slice(0, MOST_FRONT_MATTER_LINES);
  const end = begin.findIndex((line, at) => at > 0 && FRONT_MATTER_ENDS.test(line));
  if (end === -1 || !RULE.test(begin[0] ?? "")) return undefined;
  const { contents, errors } = parseDocument(begin.slice(1, end).join("\n"));
  if (errors.length > 0 || !isMap(contents)) return undefined;
  if (!contents.items.every(({ key }) => isScalar(key) && PLAIN_KEY.test(String(key.value))))
    return undefined;
  const category = contents.get("category");
  const named = typeof category === "string" ? { category } : {};
  return { line: 1, to: end + 1, leftOut: "front matter", ...named };
}

interface Heading extends Lines {
  readonly depth: number;
  readonly text: string;
  /** Something stands under it, or its text is an item of its own. */
  isUsed: boolean;
  /** It is underlined: perhaps a text above a rule. */
  readonly isText: boolean;
}

/** State while blocks are read. */
class Walk {
  #headings: Heading[] = [];
  #isFirst = true;
  #intro: string | undefined;
  #comment: string | undefined;
  /** A paragraph, until the next block is known. */
  #paragraph: MarkdownItem | undefined;

  *take(block: Block): Generator<MarkdownItem | LeftOut> {
    const lines = linesOf(block.map[0] + 1, block.map[1]);
    const paragraph = this.#paragraph;
    if (block.type === "code" && paragraph !== undefined) {
      this.#paragraph = { ...paragraph, text: `${paragraph.text}\n\n${block.text}` };
      return;
    }
    if (block.items.some(({ text }) => withoutComments(text).kept !== "")) this.#introduce();
    yield* this.#finishParagraph();
    switch (block.type) {
      case "heading":
      case "underlined":
        return yield* this.#underHeading(block, lines);
      case "list":
        for (const item of block.items) yield* this.#itemsOf({ ...item, line: item.line + 1 });
        this.#intro = undefined;
        this.#comment = undefined;
        return;
      case "comment":
        this.#comment = block.text;
        return yield { ...lines, leftOut: "a comment" };
      case "link":
        return yield { ...lines, leftOut: "a link definition" };
      default:
        for (const found of this.#itemsOf({ line: lines.line, text: block.text })) {
          if ("text" in found) this.#paragraph = found;
          else yield found;
        }
        this.#comment = undefined;
    }
  }

  /** The paragraph before a list, which acts as its heading. */
  #introduce(): void {
    const text = this.#paragraph?.text.trimEnd() ?? "";
    if (!text.endsWith(":")) return;
    this.#intro = text;
    if (isWholeSlug(text)) this.#paragraph = undefined;
  }

  *finish(depth: number): Generator<MarkdownItem | LeftOut> {
    yield* this.#finishParagraph();
    const left = this.#headings.filter((heading) => heading.depth >= depth);
    for (const { line, to, text, isUsed, isText } of left.toReversed()) {
      this.#headings.pop();
      if (!isUsed)
        yield isText ? this.#itemOf(line, text) : { line, to, leftOut: "a heading with nothing under it" };
    }
  }

  *#finishParagraph(): Generator<MarkdownItem> {
    if (this.#paragraph !== undefined) yield this.#paragraph;
    this.#paragraph = undefined;
  }

  *#underHeading({ type, depth, text }: Block, lines: Lines): Generator<MarkdownItem | LeftOut> {
    const isTitle = this.#isFirst && depth === 1;
    this.#comment = undefined;
    this.#isFirst = false;
    yield* this.finish(depth);
    if (isTitle) return yield { ...lines, leftOut: "a title" };
    // Its text is in the keys of what stands under it, but for a long one. An underlined sentence may be a text above a rule.
    const isText = type === "underlined";
    const isSentence = isText && text.split(/\s+/, 4).length === 4;
    const isUsed = text !== "" && (isSentence || !isWholeSlug(text));
    if (isUsed) yield this.#itemOf(lines.line, text);
    this.#headings.push({ depth, text, ...lines, isUsed, isText });
  }

  /** The item of a text, and the comments that are taken from it. */
  *#itemsOf({ line, text }: Pick<MarkdownItem, "line" | "text">): Generator<MarkdownItem | LeftOut> {
    const { kept, comments } = withoutComments(text, line);
    yield* comments;
    yield { ...this.#itemOf(line, kept), ...defined({ comment: this.#comment }) };
  }

  #itemOf(line: number, text: string): MarkdownItem {
    for (const heading of this.#headings) heading.isUsed ||= text !== "";
    const headings = this.#headings.map((heading) => heading.text);
    return { line, headings: [...headings, ...(this.#intro ? [this.#intro] : [])], text };
  }
}

function* blocksOf(lines: string[]): Generator<Block> {
  const parser = new MarkdownIt({ html: true, maxNesting: MOST_NESTING });
  parser.core.ruler.enableOnly(["normalize", "block"]);
  const shown = asMarkdown(lines);
  let tokens = parser.parse(shown.join("\n"), {});
  if (openAnswers(tokens, shown, lines)) tokens = parser.parse(shown.join("\n"), {});
  for (const [index, token] of tokens.entries()) {
    const { level, map, nesting, tag } = token;
    if (level !== 0 || map === null || nesting === -1) continue;
    const type = typeOf(token, lines);
    if (type === "rule") continue;
    const items = type === "list" ? [...itemsOf(tokens, index, lines)] : [];
    const isHeading = type === "heading" || type === "underlined";
    const text = isHeading ? (tokens[index + 1]?.content ?? "") : textOf(token, lines);
    yield { type, depth: Number(tag.slice(1)) || 0, map, text, items };
  }
}

/**
 * The lines as Markdown writes them, for the parser alone: with plain blanks before them and behind their signs, and a list's sign
 * before entries and in place of other signs. A single other sign is text: a quote's author, a line that begins with a dash.
 */
function asMarkdown(lines: readonly string[]): string[] {
  const shown: string[] = [];
  let texts: string[] = [];
  for (const line of [...lines, ""]) {
    if (line.trim() !== "") {
      texts.push(line);
      continue;
    }
    const written = texts.map((one) => one.replace(/^[\s\u200B\u2060]+/, ""));
    const signs = signsOf(written);
    for (const [at, text] of written.entries()) shown.push(shownLine(texts[at] ?? "", text, signs));
    shown.push("");
    texts = [];
  }
  return shown.slice(0, lines.length);
}

/** Of lines without a blank one between them. */
function signsOf(texts: readonly string[]): readonly RegExp[] {
  const count = (sign: RegExp) => texts.filter((text) => sign.test(text)).length;
  const dashes = count(ODD_DASH);
  const first = texts.findIndex((text) => ODD_DASH.test(text));
  const isOwnList = dashes === texts.length - first || BEFORE_LIST.test(texts[first - 1] ?? "");
  return [...(dashes > 1 && isOwnList ? [ODD_DASH] : []), ...(count(ODD_BULLET) > 1 ? [ODD_BULLET] : [])];
}

/** `text`: without the blanks before it. */
function shownLine(line: string, text: string, signs: readonly RegExp[]): string {
  const lead = line.slice(0, line.length - text.length);
  const odd = signs.find((sign) => sign.test(text));
  const blanks = odd !== undefined || /[^ \t]/.test(lead) ? " ".repeat(Math.min(lead.length, 3)) : lead;
  if (odd !== undefined || ENTRY.test(text)) return `${blanks}- ${text.replace(odd ?? "", "")}`;
  const sign = SIGN.exec(text)?.[0] ?? "";
  return blanks + sign + (sign === "" ? text : text.slice(sign.length).replace(/^[^\S \t]+/, " "));
}

/**
 * Opens the code block in which an assistant answered with a person's memories: one with dated entries, or with a list and nothing
 * but paragraphs around it. Changes the lines, without a word of them; false if there is none.
 */
function openAnswers(tokens: readonly Token[], shown: string[], lines: string[]): boolean {
  const outer = tokens.filter(({ level, map, nesting }) => level === 0 && map !== null && nesting !== -1);
  const isAlone = outer.every(({ type }) => ["fence", "code_block", "paragraph_open", "hr"].includes(type));
  const code = outer.filter(({ type }) => TYPES[type] === "code");
  const answers = code.filter(({ info, map }) => {
    const inner = shown.slice(...(map ?? [])).flatMap((line) => line.trimStart() || []);
    const signs = inner.filter((line) => SIGN.test(line)).length;
    const isList = isAlone && code.length === 1 && signs > 1 && signs * 2 >= inner.length - 2;
    return (
      PLAIN_CODE.includes(info.trim().toLowerCase()) &&
      (isList || inner.some((line) => DATED_ENTRY.test(line)))
    );
  });
  for (const { type, map, markup } of answers) {
    const [from, to] = map ?? [0, 0];
    for (let at = from; at < to; at += 1) shown[at] = (shown[at] ?? "").replace(/^(?: {4}|\t)/, "");
    const isClosed = shown[to - 1]?.trimStart().startsWith(markup);
    for (const at of type === "fence" ? [from, ...(isClosed ? [to - 1] : [])] : [])
      shown[at] = lines[at] = "";
  }
  return answers.length > 0;
}

/** Of the parser's types; any other is text. */
const TYPES: Readonly<Record<string, string>> = {
  ...{ heading_open: "heading", bullet_list_open: "list", ordered_list_open: "list" },
  ...{ fence: "code", code_block: "code", hr: "rule" },
};

function typeOf(token: Token, lines: readonly string[]): string {
  const { type, map, markup } = token;
  const [from, to] = map ?? [0, 0];
  if (type === "reference_definition") return LINK.test(sourceOf(lines, [from, to])) ? "link" : "text";
  if (type === "html_block")
    return WHOLE_COMMENT.test(sourceOf(lines, [from, to]).trim()) ? "comment" : "text";
  if (type !== "heading_open" || markup !== "-") return TYPES[type] ?? "text";
  // A heading is one line, and not below another rule.
  return to - from > 2 || RULE.test(lines[from - 1] ?? "") ? "text" : "underlined";
}

/** Without the line under a text that is no heading, and without the marks of a comment. */
function textOf({ type, map }: Token, lines: readonly string[]): string {
  const [from, to] = map ?? [0, 0];
  const text = sourceOf(lines, [from, type === "heading_open" ? to - 1 : to]);
  return WHOLE_COMMENT.exec(text.trim())?.[1]?.trim() ?? text;
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

/** `line`: of the text. Keeps comments within code, between equal runs of backticks. */
function withoutComments(text: string, line = 1) {
  const marks = [...text.matchAll(/`+|<!--|-->/g)];
  const ends = endsOf(marks.map(([mark]) => mark));
  const comments: LeftOut[] = [];
  let [kept, at, to] = ["", 0, line];
  for (let n = 0; n < marks.length; n = (ends[n] ?? n) + 1) {
    const [begin, end] = [marks[n], marks[ends[n] ?? -1]];
    if (begin?.[0] !== "<!--" || end === undefined) continue;
    const before = text.slice(at, begin.index);
    kept += before.replace(/(?<![ \t])[ \t]+$/, ""); // to begin at each blank would be quadratic
    at = end.index + end[0].length;
    const from = to + newlinesIn(before);
    to = from + newlinesIn(text.slice(begin.index, at));
    comments.push({ ...linesOf(from, to), leftOut: "a comment" });
  }
  return { kept: (kept + text.slice(at)).trim(), comments };
}

function newlinesIn(text: string): number {
  return text.split("\n").length - 1;
}

/** For each mark, which one ends what it begins. Found backwards: to look ahead from each would be quadratic. */
function endsOf(marks: readonly string[]): readonly (number | undefined)[] {
  const next = new Map<string, number>();
  const ends: (number | undefined)[] = [];
  for (let n = marks.length - 1; n >= 0; n -= 1) {
    const mark = marks[n] ?? "";
    ends[n] = mark === "-->" ? undefined : next.get(mark === "<!--" ? "-->" : mark);
    next.set(mark, n);
  }
  return ends;
}
