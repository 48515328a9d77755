/** Reads JSON5 (spec.json5.org), in which people write `openclaw.json`: comments, bare keys, single quotes, trailing commas. */
import { HelmdeckError } from "../app/index.ts";
import { type Json, objectOf } from "./json.ts";

const SPACE = /(?:[\s\uFEFF]|\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/)*/y;
const NAME = /[$_\p{ID_Start}](?:[$\p{ID_Continue}]|\u200C|\u200D)*/uy;
const NUMBER = /[+-]?(?:0[xX][\dA-Fa-f]+|Infinity|NaN|(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)/y;
const WORD = /(?:true|false|null)\b/y;
/** A run of plain characters, or one escape, or the end of the string. */
const PLAIN = /[^\\'"\n\r]+/y;
const ESCAPE = /\\(?:x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|(\r\n|[\n\r\u2028\u2029])|([^1-9xu]))/y;
const ESCAPED: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  0: "\0",
};
/** Deeper than any configuration, shallower than the stack. */
const MAX_DEPTH = 200;

/** Throws `invalid_input` with the line, never with the text: a configuration holds secrets. */
export function parseJson5(text: string): Json {
  return new Reader(text).document();
}

class Reader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Json {
    const value = this.#value();
    this.#take(SPACE);
    if (this.#at < this.#text.length) this.#fail();
    return value;
  }

  #value(): Json {
    this.#take(SPACE);
    const next = this.#text[this.#at];
    if (next === "{") return this.#nested(() => objectOf(this.#list("}", () => this.#entry())));
    if (next === "[") return this.#nested(() => this.#list("]", () => this.#value()));
    if (next === '"' || next === "'") return this.#string(next);
    const word = this.#take(WORD);
    if (word !== undefined) return word === "null" ? null : word === "true";
    return this.#number();
  }

  #nested(read: () => Json): Json {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) this.#fail();
    const value = read();
    this.#depth -= 1;
    return value;
  }

  /** What stands between the bracket here and its end, with commas between and perhaps after. */
  #list<Item>(end: string, item: () => Item): readonly Item[] {
    const items: Item[] = [];
    this.#at += 1;
    for (;;) {
      this.#take(SPACE);
      if (this.#skip(end)) return items;
      items.push(item());
      this.#take(SPACE);
      if (this.#skip(",")) continue;
      if (this.#skip(end)) return items;
      this.#fail();
    }
  }

  #entry(): readonly [string, Json] {
    const quote = this.#text[this.#at];
    const key = quote === '"' || quote === "'" ? this.#string(quote) : (this.#take(NAME) ?? this.#fail());
    this.#take(SPACE);
    if (!this.#skip(":")) this.#fail();
    return [key, this.#value()];
  }

  #string(quote: string): string {
    const other = quote === '"' ? "'" : '"';
    let read = "";
    this.#at += 1;
    while (!this.#skip(quote)) {
      read += this.#take(PLAIN) ?? (this.#skip(other) ? other : this.#escape());
    }
    return read;
  }

  #escape(): string {
    const found = this.#match(ESCAPE) ?? this.#fail();
    const [, hex, unicode, lineEnd, single = ""] = found;
    if (lineEnd !== undefined) return "";
    const code = hex ?? unicode;
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    // A zero before a digit would be an octal escape, which JSON5 does not know.
    if (single === "0" && /\d/.test(this.#text[this.#at] ?? "")) this.#fail();
    return ESCAPED[single] ?? single;
  }

  #number(): number {
    const text = this.#take(NUMBER) ?? this.#fail();
    const isNegative = text.startsWith("-");
    const size = Number(text.replace(/^[+-]/, ""));
    return isNegative ? -size : size;
  }

  #skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #take(pattern: RegExp): string | undefined {
    return this.#match(pattern)?.[0];
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return undefined;
    this.#at += found[0].length;
    return found;
  }

  #fail(): never {
    const line = this.#text.slice(0, this.#at).split("\n").length;
    throw new HelmdeckError("invalid_input", `The configuration is not JSON5 at line ${line}.`, {
      details: { line },
    });
  }
}
