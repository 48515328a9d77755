/**
 * Finds the JSON values of a text that may be damaged: one value, one on each line, several on a line, or cut short. Each character
 * is read a few times at most, however the text is damaged.
 */
import { jsonOf } from "../../../engine/json.ts";
import { type Finding, type Found, type Lines, linesOf } from "./format.ts";

interface JsonValue extends Lines {
  /** Undefined when nothing of it could be read. */
  readonly value: unknown;
  /** Only what is whole in it is in the value. */
  readonly isDamaged: boolean;
}

/** Between values; also what remains around the values of a damaged list. */
const BETWEEN = /[\s,\]}\uFEFF]*(?:"[^"\n]{0,64}"\s*:\s*(?=[{[]))?/y;
/** Up to the next value, if that is out of place. */
const DAMAGED_LINE = /(?![{[])[^\n]*/y;
/** A sign, and what follows without a meaning for the structure. */
const UNSTRUCTURED = /[\s\S][^{}[\]",:]*/y;
/** Damaged lists whose values are read one by one, within one that is. */
const MOST_ENTERED = 3;
/** Of lists, and of what is wrapped in other values. */
export const MOST_NESTING = 8;
const DAMAGED = "The text is not JSON here, or cut short. What is whole in it was read.";

/**
 * What the parts of a text's values become. A part's place is its line or, in a text of one value, its number.
 *
 * A damaged value is refused as a place, whatever is read of it.
 */
export function* foundInJson(
  text: string,
  partsOf: (value: unknown) => Iterable<readonly Finding[]>,
): Generator<Found> {
  const whole = jsonOf(text.replace(/^\uFEFF/, ""));
  let part = 0;
  for (const { value, isDamaged, ...lines } of jsonValues(text, whole)) {
    for (const findings of value === undefined ? [] : partsOf(value)) {
      part += 1;
      const place = whole !== undefined ? { line: part } : lines;
      const kept = findings.filter((found) => !isDamaged || !("refused" in found));
      yield* kept.map((found) => ({ ...place, ...found }));
    }
    if (isDamaged) yield { ...lines, refused: DAMAGED };
  }
}

/** `whole`: the value of the text, if it is one. */
export function* jsonValues(text: string, whole = jsonOf(text)): Generator<JsonValue> {
  if (whole !== undefined) return yield { line: 1, value: whole, isDamaged: false };
  let [at, line, newline] = [0, 1, text.indexOf("\n")];
  const moveTo = (next: number): void => {
    for (; newline !== -1 && newline < next; newline = text.indexOf("\n", newline + 1)) line += 1;
    at = next;
  };
  let [entered, enteredTo] = [0, 0];
  for (moveTo(endOf(BETWEEN, text, at)); at < text.length; moveTo(endOf(BETWEEN, text, at))) {
    const { isCut, ...scanned } = scan(text, at);
    const end = isCut ? endOf(DAMAGED_LINE, text, scanned.end) : scanned.end;
    const value = jsonOf(scanned.whole);
    if (at >= enteredTo) entered = 0;
    if (value === undefined && !isCut && entered < MOST_ENTERED) {
      entered += 1;
      enteredTo = Math.max(enteredTo, end);
      moveTo(at + 1);
      continue;
    }
    const begin = line;
    moveTo(end);
    const isDamaged = value === undefined || isCut;
    yield { ...linesOf(begin, line), value, isDamaged };
  }
}

const CLOSERS = new Map([
  ["{", "}"],
  ["[", "]"],
]);

/**
 * Reads from a bracket to the one that closes it, or to damage: a string without end on its line, a bracket out of place. Of a value
 * that is cut short, what is whole in it is closed.
 */
function scan(text: string, start: number) {
  const closers: string[] = [];
  let [at, wholeTo, wantsValue] = [start, start, true];
  const next = () => behind(text, at, wantsValue, closers.at(-1));
  for (let end = next(); end !== undefined; end = next()) {
    const [sign, last] = [text.charAt(at), closers.at(-1)];
    if (sign === ",") wholeTo = at;
    else if ("{[}]".includes(sign) || (sign === '"' && wantsValue)) wholeTo = end;
    wantsValue = sign === "," ? last === "]" : "[:".includes(sign) || (wantsValue && !'{}]"'.includes(sign));
    if (sign === last) closers.pop();
    closers.push(...(CLOSERS.get(sign) ?? ""));
    at = end;
  }
  const isCut = closers.length > 0 || at === start;
  const whole = text.slice(start, wholeTo) + closers.toReversed().join("");
  return { whole, isCut, end: at };
}

/** The place behind a sign; undefined behind the value, and where it is damaged. */
function behind(text: string, at: number, wantsValue: boolean, last: string | undefined): number | undefined {
  const sign = text.charAt(at);
  if (CLOSERS.has(sign)) return wantsValue ? at + 1 : undefined;
  if (sign === last) return at + 1;
  if (last === undefined || "}]".includes(sign)) return undefined; // also at the end of the text
  return sign === '"' ? endOfString(text, at) : endOf(UNSTRUCTURED, text, at);
}

function endOfString(text: string, start: number): number | undefined {
  let at = start + 1;
  while (at < text.length && !'"\n'.includes(text.charAt(at))) at += text[at] === "\\" ? 2 : 1;
  return text[at] === '"' ? at + 1 : undefined;
}

function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}

export type Fields = Readonly<Record<string, unknown>>;

/** None if it is no object. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** Whether something stands in fields that are not known. */
export function hasOthers(fields: Fields, known: readonly string[]): boolean {
  return Object.entries(fields).some(([name, said]) => said !== null && !known.includes(name));
}

/** Empty for a list, an object, and nothing. */
export function textOf(value: unknown): string {
  return typeof value === "object" || value === undefined ? "" : String(value);
}
