/** JSON answers are exact for a program and harmless for a terminal. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { escapeJson, safeJson } from "../../app/presenters/safe-json.ts";
import { actsOnATerminal, HOSTILE_TEXTS } from "./hostile-texts.ts";

describe("a stored text in JSON", () => {
  test("ordinary text stays readable", () => {
    expect(safeJson("Grüße, 日本語, עברית 🎉")).toBe('"Grüße, 日本語, עברית 🎉"');
  });

  test("a line of JSON keeps its meaning", () => {
    expect(escapeJson('{"a":"\u202e\\n\\u0041"}')).toBe('{"a":"\\u202e\\n\\u0041"}');
  });

  test("holds for any text", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(...HOSTILE_TEXTS.map(([, stored]) => stored)),
    );
    fc.assert(
      fc.property(text, (stored) => {
        const json = safeJson({ [stored]: stored });
        expect(actsOnATerminal(json)).toBe(false);
        expect(JSON.parse(json)[stored]).toBe(stored);
      }),
    );
  });
});
