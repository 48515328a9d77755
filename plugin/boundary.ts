/**
 * The one boundary between memory and the host: everything that passes is well formed, short and safe to show.
 *
 * A single malformed hit makes the host drop the whole search, including its own notes, and the text of a hit reaches a
 * model. Values can come from anything that an agent reads. So each field is checked here, although our own code made it:
 * malformed fields are left out, long text is cut, and control and invisible characters are escaped. Stored text is quoted
 * under a header line, so that no key or value can pass for another hit or for a record.
 */
import { ANSWER_LIMITS, POSSIBLE_REASONS } from "../engine/answer-limits.ts";
import { defined } from "../engine/defined.ts";
import { isCategory } from "../engine/facts/facts-policy.ts";
import { harmlessBlock, harmlessLine } from "../engine/facts/hostile-text.ts";
import { DOCUMENT_KINDS } from "../engine/projections/corpus.ts";
import {
  cutText,
  type Framed,
  type FramedHit,
  frameOf,
  nameOf,
  quotedText,
} from "../engine/projections/frame.ts";
import { isKnownTime, rfc3339 } from "../engine/rfc3339.ts";
import type { Writer } from "../engine/store/writer.ts";
import type { GetResult, SearchHit } from "./openclaw-api.ts";
import { fieldsOf, isRecord } from "./unchecked.ts";

const CORPUS = "helmdeck";
export const PATH_PREFIX = "helmdeck/";
/** The virtual document that lists what is stored, without values. */
export const MY_MEMORY_PATH = "helmdeck/my-memory.md";
export const SNIPPET_MAX_CHARS = ANSWER_LIMITS.snippetCharacters;
/** Without the header, with the quote marks. Memory's answers are within this limit; escaped characters can make them longer. */
export const CONTENT_MAX_CHARS = ANSWER_LIMITS.documentBytes + 2 * ANSWER_LIMITS.documentLines;
const PATH_MAX_CHARS = 2_048;
const LINE_MAX_CHARS = 200;
const SCORE_DIGITS = 10_000;
/** As memory scores them: a likely answer stands before the host's weak notes, and a coincidence behind them. */
const POSSIBLE_MOST_SCORE = 0.34;
const POSSIBLE_MAX_CHARS = ANSWER_LIMITS.possibleSnippetCharacters;
const POSSIBLE_TEXT = "Only possibly related";
/** The part of a hit's text that the header may use up. */
const FRAME_SHARE = 0.75;
const POSSIBLE_LABEL = "helmdeck: only possibly related";

export interface CheckedHits {
  readonly hits: SearchHit[];
  /** The number of malformed hits that were left out. */
  readonly dropped: number;
}

/** At most `limit` hits for the host, in the given order. Accepts any value; never throws. */
export function hitsForHost(results: unknown, limit: number, note?: string): CheckedHits {
  const given = Array.isArray(results) ? results : [];
  const hits = new Map<string, SearchHit>();
  let dropped = Array.isArray(results) ? 0 : 1;
  let before = 1;
  for (const result of given) {
    const hit = attempt(() => hitForHost(result, before, note));
    if (hit === undefined) dropped += 1;
    else if (!hits.has(idOf(hit))) hits.set(idOf(hit), hit);
    before = hit?.score ?? before;
  }
  return { hits: [...hits.values()].slice(0, limit), dropped };
}

/** A document for the host, or undefined if it is malformed. Accepts any value; never throws. */
export function documentForHost(slice: unknown): GetResult | undefined {
  return attempt(() => {
    const given = fieldsOf(slice);
    const path = ourPath(given.path);
    if (path === undefined || typeof given.content !== "string") return undefined;
    const entry = framedOf(given.entry);
    if (entry === undefined && path !== MY_MEMORY_PATH) return undefined;
    const fromLine = lineNumber(given.fromLine) ?? 1;
    const show = entry === undefined ? harmlessBlock : quotedText;
    const { shown, lineCount, isCut } = cutLines(given.content, show);
    const totalLines = lineNumber(given.totalLines) ?? fromLine + lineCount - 1;
    return {
      corpus: CORPUS,
      path,
      fromLine,
      lineCount,
      ...(entry === undefined
        ? { content: shown, ...optional("title", lineOf(given.title)) }
        : about(entry, shown)),
      totalLines,
      truncated: isCut || given.truncated === true,
    };
  });
}

/** Lines are counted without the header, as in citations. */
function about(entry: Framed, quotation: string) {
  return {
    content: `${frameOf(entry)}:\n${quotation}`,
    title: nameOf(entry, LINE_MAX_CHARS),
    kind: entry.kind,
    ...optional("updatedAt", knownTime(entry.updatedAt)),
  };
}

/** One safe line for a person or a model, at most 200 characters; undefined if there is none. */
export function lineOf(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  const line = cutText(harmlessLine(cutText(text, LINE_MAX_CHARS)).trim(), LINE_MAX_CHARS);
  return line === "" ? undefined : line;
}

/** `before`: the score of the previous hit. */
function hitForHost(result: unknown, before: number, note: string | undefined): SearchHit | undefined {
  const given = fieldsOf(result);
  const path = ourPath(given.path);
  const entry = framedOf(given);
  const { score, snippet } = given;
  if (path === undefined || entry === undefined || typeof snippet !== "string") return undefined;
  if (typeof score !== "number" || !Number.isFinite(score)) return undefined;
  const isPossible = given.possible === true;
  const told = { ...entry, ...conflictsFrom(given.conflictsWith) };
  return {
    corpus: CORPUS,
    path,
    score: isPossible ? possibleScore(score, before) : rounded(score),
    snippet: isPossible
      ? framedText(possibleText(given.why), told, snippet, POSSIBLE_MAX_CHARS)
      : framedText("", told, snippet, SNIPPET_MAX_CHARS),
    source: CORPUS,
    title: nameOf(entry, LINE_MAX_CHARS),
    kind: entry.kind,
    ...optional("id", idLine(given.docid)),
    ...linesOf(path, lineNumber(given.startLine), lineNumber(given.endLine)),
    ...optional("updatedAt", knownTime(entry.updatedAt)),
    ...optional("provenanceLabel", labelOf(isPossible, note)),
  };
}

/** A fact among the hits, framed; undefined for a run or a malformed hit. Accepts any value; never throws. */
export interface QuotedFact {
  readonly key: string;
  readonly path: string;
  readonly score: number;
  readonly text: string;
}

/** `text`: header and quotation, together at most `most` UTF-16 units. */
export function quotedFact(result: unknown, most: number): QuotedFact | undefined {
  return attempt(() => {
    const hit = hitForHost(result, 1, undefined);
    const entry = framedOf(result);
    if (hit === undefined || entry?.kind !== "fact") return undefined;
    const text = framedText("", entry, String(fieldsOf(result).snippet), most);
    return { key: entry.key, path: hit.path, score: hit.score, text };
  });
}

function knownTime(at: number): string | undefined {
  return isKnownTime(at) ? rfc3339(at) : undefined;
}

function labelOf(isPossible: boolean, note: string | undefined): string | undefined {
  if (!isPossible) return lineOf(note);
  return lineOf(note === undefined ? POSSIBLE_LABEL : `${POSSIBLE_LABEL}; ${note}`);
}

function possibleText(why: unknown): string {
  const reason = POSSIBLE_REASONS.find((known) => known === why);
  return reason === undefined ? `${POSSIBLE_TEXT}: ` : `${POSSIBLE_TEXT} (${reason}): `;
}

/** The host sorts hits with equal scores by path. A slightly lower score than the previous hit's keeps our order. */
function possibleScore(score: number, before: number): number {
  return rounded(Math.min(POSSIBLE_MOST_SCORE, score, before - 1 / SCORE_DIGITS));
}

function rounded(score: number): number {
  return Math.round(Math.min(1, Math.max(0, score)) * SCORE_DIGITS) / SCORE_DIGITS;
}

/** Header and quoted text, cut at `maxChars`: first the header's key, which the hit's title has too, then the text. */
function framedText(lead: string, entry: FramedHit, text: string, maxChars: number): string {
  const quoted = quotedText(cutText(text, maxChars), maxChars);
  const room = Math.max(ANSWER_LIMITS.frameCharacters, maxChars - quoted.length - ":\n".length);
  const frame = `${lead}${frameOf(entry, { most: Math.min(FRAME_SHARE * maxChars, room) - lead.length })}:\n`;
  return frame + quotedText(cutText(text, maxChars), maxChars - frame.length);
}

function linesOf(path: string, startLine: number | undefined, endLine: number | undefined) {
  if (startLine === undefined || endLine === undefined || endLine < startLine) return { citation: path };
  return { startLine, endLine, citation: `${path}#L${startLine}-L${endLine}` };
}

/** A path of ours that is safe to print and to request again. Unusual characters were escaped when the path was made. */
function ourPath(path: unknown): string | undefined {
  if (typeof path !== "string" || !path.startsWith(PATH_PREFIX) || path.length > PATH_MAX_CHARS)
    return undefined;
  return path === harmlessLine(path) ? path : undefined;
}

/** Never cut, because it may be passed to forget: a cut id would name nothing, or something else. */
function idLine(docid: unknown): string | undefined {
  if (typeof docid !== "string" || docid.length > PATH_MAX_CHARS) return undefined;
  return docid !== "" && docid === harmlessLine(docid) ? docid : undefined;
}

/** As many complete lines as fit, so that reading can continue at the next line. Cuts a line only if it is too long by itself. */
function cutLines(text: string, show: (text: string) => string) {
  const whole = show(cutText(text, CONTENT_MAX_CHARS));
  const isCut = text.length > CONTENT_MAX_CHARS || whole.length > CONTENT_MAX_CHARS;
  const fitting = cutText(whole, CONTENT_MAX_CHARS);
  const lastBreak = isCut ? fitting.lastIndexOf("\n") : -1;
  const shown = lastBreak > 0 ? fitting.slice(0, lastBreak) : fitting;
  return { shown, lineCount: shown.split("\n").length, isCut };
}

function lineNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1 ? value : undefined;
}

function idOf(hit: SearchHit): string {
  return hit.citation ?? hit.path;
}

function optional<K extends string>(name: K, value: string | undefined): Partial<Record<K, string>> {
  // The computed key is K itself, which the compiler widens to string.
  return value === undefined ? {} : ({ [name]: value } as Partial<Record<K, string>>);
}

/** A getter or proxy in memory's answer could throw; the host must not see that. */
function attempt<T>(make: () => T | undefined): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/** Longer than any key. */
const KEY_MAX_CHARS = 2_048;
/** The end of the year 9999, the last that RFC 3339 can express. */
const MOST_UNIX_MS = Date.UTC(10_000, 0) - 1;

/**
 * Validates the header fields of a hit or document.
 *
 * Undefined if any field is malformed.
 */
function framedOf(given: unknown): Framed | undefined {
  const { kind, key, category, createdAt, updatedAt, writer } = fieldsOf(given);
  if (!isKind(kind) || !isText(key) || key.length > KEY_MAX_CHARS) return undefined;
  if (!isText(category) || !isCategory(category)) return undefined;
  if (!isInstant(createdAt) || !isInstant(updatedAt)) return undefined;
  return { kind, key, category, createdAt, updatedAt, ...defined({ writer: writerFrom(writer) }) };
}

/** Malformed ones are left out: the hit counts without them. */
function conflictsFrom(given: unknown): Pick<FramedHit, "conflictsWith"> {
  if (!Array.isArray(given)) return {};
  const conflictsWith = given.slice(0, ANSWER_LIMITS.hits.most).flatMap((one) => {
    const { key, updatedAt } = fieldsOf(one);
    if (!isText(key) || key.length > KEY_MAX_CHARS || !isInstant(updatedAt)) return [];
    return [{ key, updatedAt }];
  });
  return { conflictsWith };
}

function writerFrom(given: unknown): Writer | undefined {
  if (!isRecord(given) || !isText(given.surface)) return undefined;
  const { surface, agent, sessionKind } = given;
  return {
    surface,
    ...(isText(agent) && { agent }),
    ...(isText(sessionKind) && { sessionKind }),
  };
}

function isKind(given: unknown): given is Framed["kind"] {
  return DOCUMENT_KINDS.some((kind) => kind === given);
}

function isText(given: unknown): given is string {
  return typeof given === "string" && given !== "";
}

function isInstant(given: unknown): given is number {
  return typeof given === "number" && given >= 0 && given <= MOST_UNIX_MS;
}
