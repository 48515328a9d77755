/**
 * Finds the JSON values of a text that may be damaged: one value, one on each line, several on a line, or cut short. Each character
 * is read a few times at most, however the text is damaged.
 */
import { jsonOf } from "../../../engine/json.ts";
import type { Finding, Found } from "./format.ts";

interface JsonValue {
  /** From 1. */
  readonly line: number;
  /** The last line, if there are several. */
  readonly to?: number;
  /** Undefined when nothing of it could be read. */
  readonly value: unknown;
  /** Only what is whole in it is in the value. */
  readonly isDamaged: boolean;
}

/** Between values; also what remains around the values of a damaged list. */
const BETWEEN = /[\s,\]}\uFEFF]*(?:"[^"\n]{0,64}"\s*:\s*(?=[{[]))?/y;
const REST_OF_LINE = /[^\n]*/y;
/** Damaged lists whose values are read one by one, within one that is. */
const MOST_ENTERED = 3;

/** The parts of a value, and what each becomes. */
type PartsOf = (value: unknown) => Iterable<readonly Finding[]>;

/**
 * What the parts of a text's values become. A part's place is its line or, in a text of one value, its number.
 *
 * A damaged value is refused as a place, whatever is read of it.
 */
export function* foundInJson(text: string, partsOf: PartsOf): Generator<Found> {
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

const DAMAGED = "The text is not JSON here, or cut short. What is whole in it was read.";

/** `whole`: the value of the text, if it is one. */
export function* jsonValues(text: string, whole = jsonOf(text)): Generator<JsonValue> {
  if (whole !== undefined) return yield { line: 1, value: whole, isDamaged: false };
  let at = 0;
  let line = 1;
  let newline = text.indexOf("\n");
  const moveTo = (next: number): void => {
    for (; newline !== -1 && newline < next; newline = text.indexOf("\n", newline + 1)) line += 1;
    at = next;
  };
  let enteredTo = 0;
  let entered = 0;
  for (moveTo(endOf(BETWEEN, text, at)); at < text.length; moveTo(endOf(BETWEEN, text, at))) {
    const scan = new Scan(text, at);
    const value = jsonOf(scan.whole);
    if (at >= enteredTo) entered = 0;
    if (value === undefined && scan.whole !== "" && !scan.isCut && entered < MOST_ENTERED) {
      entered += 1;
      enteredTo = Math.max(enteredTo, scan.end);
      moveTo(at + 1);
      continue;
    }
    const begin = line;
    moveTo(scan.end);
    const to = line > begin ? { to: line } : {};
    yield { line: begin, ...to, value, isDamaged: value === undefined || scan.isCut };
  }
}

/** Reads from a bracket to the one that closes it, or to damage: a string without end on its line, a bracket out of place. */
class Scan {
  readonly #text: string;
  readonly #start: number;
  readonly #closers: string[] = [];
  #wholeTo: number;
  #wantsValue = true;
  readonly end: number;

  constructor(text: string, start: number) {
    this.#text = text;
    this.#start = start;
    this.#wholeTo = start;
    let at = start;
    for (let next: number | undefined = start; next !== undefined; next = this.#behind(at)) at = next;
    const isAtNext = at > start && (!this.isCut || "{[".includes(text.charAt(at)));
    this.end = isAtNext ? at : endOf(REST_OF_LINE, text, at);
  }

  get isCut(): boolean {
    return this.#closers.length > 0;
  }

  /** The value; of one that is cut short, what is whole in it, closed. */
  get whole(): string {
    return this.#text.slice(this.#start, this.#wholeTo) + this.#closers.toReversed().join("");
  }

  /** The place behind the next sign; undefined behind the value, and where it is damaged. */
  #behind(at: number): number | undefined {
    const sign = this.#text.charAt(at);
    if (sign === "{" || sign === "[") return this.#open(at, sign);
    if (!this.isCut || sign === "") return undefined;
    if (sign === "}" || sign === "]") return this.#close(at, sign);
    if (sign === '"') return this.#string(at);
    if (sign === ",") this.#wholeTo = at;
    if (sign === ",") this.#wantsValue = this.#closers.at(-1) === "]";
    if (sign === ":") this.#wantsValue = true;
    return at + 1;
  }

  #open(at: number, sign: string): number | undefined {
    if (!this.#wantsValue) return undefined;
    this.#closers.push(sign === "{" ? "}" : "]");
    this.#wholeTo = at + 1;
    this.#wantsValue = sign === "[";
    return at + 1;
  }

  #close(at: number, sign: string): number | undefined {
    if (this.#closers.at(-1) !== sign) return undefined;
    this.#closers.pop();
    this.#wholeTo = at + 1;
    this.#wantsValue = false;
    return at + 1;
  }

  #string(start: number): number | undefined {
    let at = start + 1;
    while (at < this.#text.length && !'"\n'.includes(this.#text.charAt(at)))
      at += this.#text[at] === "\\" ? 2 : 1;
    if (this.#text[at] !== '"') return undefined;
    if (this.#wantsValue) this.#wholeTo = at + 1;
    this.#wantsValue = false;
    return at + 1;
  }
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

/** Empty for a list, an object, and nothing. */
export function textOf(value: unknown): string {
  return typeof value === "object" || value === undefined ? "" : String(value);
}
