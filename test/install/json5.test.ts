/** Compares the JSON5 reader with the json5 package with which OpenClaw reads its configuration: the same values, the same refusals. */
import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HelmdeckError } from "../../engine/errors.ts";
import { parseJson5 } from "../../install/openclaw-json.ts";

const requireOfHost = createRequire(createRequire(import.meta.url).resolve("openclaw/cli-entry"));
const host = requireOfHost("json5") as { parse(text: string): unknown; stringify(value: unknown): string };

const SAMPLES = [
  "// a comment\n{ gateway: { port: 18789, }, /* why */ list: [1, 2,], }",
  `{ 'single': 'it''s', }`.replace("''", "\\'"),
  "{ a: 'line \\\n continued', b: '\\x41\\u0042\\0', c: \"'\", d: '\"' }",
  "{ h: 0xFF, p: +1, n: -.5, e: 1e3, d: 5., i: -Infinity, x: NaN }",
  '{ $dollar_: 1, ünï: 2, "__proto__": { a: 1 }, constructor: 3 }',
  "\uFEFF[null, true, false]\u00A0",
  "{}",
  "[]",
];

const REFUSED = [
  "",
  "{",
  "{a:1",
  "[1,,2]",
  "{,}",
  "{a 1}",
  "{a:1 b:2}",
  "'open",
  "'line\nend'",
  "01",
  "1.2.3",
  "tru",
  "nulll",
  "undefined",
  "'\\1'",
  "'\\01'",
  "'\\x4'",
  "'\\u12'",
  "/* open",
  "{a:1} trailing",
  "[".repeat(100_000),
  "{1a: 1}",
  "+",
  "0x",
];

describe("parseJson5", () => {
  it.each(SAMPLES)("reads as the host does: %j", (text) =>
    expect(parseJson5(text)).toEqual(host.parse(text)),
  );

  it.each(REFUSED.map((text) => [text.slice(0, 40), text]))("refuses as the host does: %j", (_, text) => {
    expect(() => host.parse(text)).toThrow();
    expect(() => parseJson5(text)).toThrow(HelmdeckError);
  });

  it("reads everything that the host writes", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = host.stringify(value);
        expect(parseJson5(text)).toEqual(host.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it("accepts, reads or refuses damaged texts as the host does", () => {
    const damaged = fc
      .tuple(
        fc.constantFrom(...SAMPLES),
        fc.nat(),
        fc.constantFrom("", ",", "}", "'", "/", "\\", "0", "\n", "é"),
      )
      .map(([text, at, put]) => text.slice(0, at % text.length) + put + text.slice((at % text.length) + 1));
    fc.assert(
      fc.property(damaged, (text) => {
        expect(outcome(parseJson5, text)).toEqual(outcome(host.parse, text));
      }),
      { numRuns: 2_000 },
    );
  });

  it("names the line of an error and never shows its content", () => {
    const text = "{\n  token: 'hunter2' 'hunter3'\n}";
    expect(() => parseJson5(text)).toThrow("line 2");
    expect(() => parseJson5(text)).not.toThrow(/hunter/);
  });
});

function outcome(parse: (text: string) => unknown, text: string): unknown {
  try {
    return { value: parse(text) };
  } catch {
    return "refused";
  }
}
