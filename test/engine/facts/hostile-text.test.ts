import { describe, expect, test } from "vitest";
import { harmlessBlock, harmlessLine, problemOfName } from "../../../engine/facts/hostile-text.ts";

const HIDDEN = [
  ...["00AD", "034F", "061C", "115F", "1160", "17B4", "180E", "200B", "200C", "200D", "200E", "202E", "2028"],
  ...[
    "2060",
    "2066",
    "3164",
    "FE00",
    "FE0F",
    "FEFF",
    "FFA0",
    "FFFE",
    "1D173",
    "E0001",
    "E0041",
    "E0100",
    "E01EF",
  ],
];
const characterOf = (hex: string) => String.fromCodePoint(Number.parseInt(hex, 16));

// verifies P-text-harmless, P-text-lookalikes
describe("an invisible character", () => {
  test.each(HIDDEN)("U+%s is refused in a name by its number, and spelt out in text", (hex) => {
    const text = `a${characterOf(hex)}b`;
    expect(problemOfName(text)).toContain(`U+${hex}`);
    const shown = hex === "2028" ? "a b" : `a[U+${hex}]b`;
    expect(harmlessLine(text)).toBe(shown);
    expect(harmlessBlock(text)).toBe(shown.replace("a b", "a\nb"));
  });

  test("is recognised by its property: no character that Unicode calls ignorable passes", () => {
    const passing: string[] = [];
    for (let code = 0; code <= 0x10ffff; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const text = String.fromCodePoint(code);
      if (
        /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cc}\p{Zl}\p{Zp}]/u.test(text) &&
        problemOfName(text) === undefined
      )
        passing.push(code.toString(16));
    }
    expect(passing).toEqual([]);
  });

  test("is spelt out behind an emoji too", () => {
    const smuggled = `😀${["E0138", "E0155"].map(characterOf).join("")}`;
    expect(harmlessLine(smuggled)).toBe("😀[U+E0138][U+E0155]");
  });
});

describe("legitimate text", () => {
  const SCOTLAND = `🏴${["E0067", "E0062", "E0073", "E0063", "E0074", "E007F"].map(characterOf).join("")}`;
  test.each([
    ["a red heart", "\u2764\ufe0f"],
    ["an astronaut", "👩\u200d🚀"],
    ["a keycap", "1\ufe0f\u20e3"],
    ["a flag", "🇳🇱"],
    ["the flag of Scotland", SCOTLAND],
    ["a family", "👩\u200d👩\u200d👧"],
    ["Persian", "می\u200cخواهم"],
    ["Hindi", "क्\u200dष"],
    ["Hebrew", "שלום"],
    ["Japanese", "日本語"],
    ["plain text", "Deploys go through Konflux — naïvely, for 5 €."],
  ])("is unchanged: %s", (_, text) => {
    expect(harmlessLine(`so ${text} it is`)).toBe(`so ${text} it is`);
    expect(harmlessBlock(text)).toBe(text);
    expect(problemOfName(text)).toBeUndefined();
  });

  test("is unchanged beside other invisible characters, which are spelt out", () => {
    expect(harmlessLine("a\ufe0f \u2764\ufe0f\ufe0f می\u200c\u200dخ a\u200db")).toBe(
      "a[U+FE0F] \u2764\ufe0f[U+FE0F] می[U+200C][U+200D]خ a[U+200D]b",
    );
  });
});

test("long texts are processed quickly", () => {
  const started = performance.now();
  for (const piece of ["a\u200b", "👩\u200d", "\u2764\ufe0f", "ی\u200c", "1", "plain "])
    harmlessBlock(piece.repeat(65_536 / piece.length));
  expect(performance.now() - started).toBeLessThan(3_000);
});
