import { describe, expect, test } from "vitest";
import { KeyLooks } from "../../../engine/facts/key-looks.ts";

function lookalikeAmong(keys: readonly string[], key: string): string | undefined {
  const looks = new KeyLooks();
  for (const known of keys) looks.add(known);
  return looks.lookalikeOf(key);
}

/** Written with escapes, because the keys look the same. */
const ALIKE = [
  ["a Cyrillic е", "deploy", "d\u0435ploy"],
  ["a Cyrillic о", "deploy", "depl\u043ey"],
  ["a Greek omicron", "notes", "n\u03bftes"],
  ["a Greek capital rho", "Plan", "\u03a1lan"],
  ["nothing but Cyrillic", "cop", "\u0441\u043e\u0440"],
  ["a letter apart from its accent", "caf\u00e9", "cafe\u0301"],
  ["a blank that does not break", "my plan", "my\u00a0plan"],
  ["another hyphen", "pre-prod", "pre\u2010prod"],
  ["another slash", "a/b", "a\u2215b"],
  ["a ligature", "fix", "\ufb01x"],
  ["mathematical letters", "deploy", "\u{1d41d}\u{1d41e}\u{1d429}\u{1d425}\u{1d428}\u{1d432}"],
  ["an invisible letter of an earlier version", "deploy", "dep\u200bloy"],
] as const;

// verifies P-text-lookalikes
describe("a key that looks like another", () => {
  test.each(ALIKE)("by %s is detected, in either order", (_, one, other) => {
    expect(lookalikeAmong(["else", one], other)).toBe(one);
    expect(lookalikeAmong(["else", other], one)).toBe(other);
  });

  test("is refused with the other's name", () => {
    const looks = new KeyLooks();
    looks.add("deploy");
    expect(() => looks.refuseLookalike("d\u0435ploy")).toThrow(/looks like the existing key "deploy"/);
  });

  test.each(ALIKE)("by %s may be written again if it exists", (_, one, other) => {
    expect(lookalikeAmong([one, other], other)).toBeUndefined();
  });
});

describe("a key that is merely similar", () => {
  test.each([
    ["deploy", "deploy/konflux"],
    ["item1", "iteml"],
    ["burn", "bum"],
    ["Plan", "plan"],
    ["größe/1", "größe/l"],
    ["\u0434\u043e\u043c", "dom"],
    ["\u0437\u0430\u043c\u0435\u0442\u043a\u0438", "zametki"],
    ["\u03c3\u03c7\u03ad\u03b4\u03b9\u03bf", "sxedio"],
    ["日本", "日本語"],
    ["café", "cafe"],
    ["straße", "strasse"],
  ])("%s and %s are distinct", (one, other) => {
    expect(lookalikeAmong([one], other)).toBeUndefined();
    expect(lookalikeAmong([other], one)).toBeUndefined();
  });
});

test("100,000 keys are indexed quickly", () => {
  const looks = new KeyLooks();
  const started = performance.now();
  for (let number = 0; number < 100_000; number += 1) looks.add(`notes/deploy/${number}`);
  expect(performance.now() - started).toBeLessThan(5_000);
});
