/** Which keys are suggested for a text without a match. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nearestKeys } from "../../../engine/facts/near.ts";

const KEYS = ["deploy/preference", "coffee", "people/release-notes", "db/choice", "note:monday", "k", "a/b"];

describe("similar to a text is:", () => {
  test.each([
    ["the same key in another case", "Deploy/PREFERENCE", "deploy/preference"],
    ["the same in another form of Unicode", "cafe\u0301", "café"],
    ["the same with an invisible letter", "cof\u200Dfee", "coffee"],
    ["the same in quotes", '"coffee"', "coffee"],
    ["the same with other separators", "deploy preference", "deploy/preference"],
    ["the key of a docid in another category", "work/deploy/preference", "deploy/preference"],
    ["the key of a path in another category", "helmdeck/work/deploy/preference.md", "deploy/preference"],
    ["the key of a path without its ending", "helmdeck/user_facts/deploy/preference", "deploy/preference"],
    ["the key of a citation", "coffee#L1-L5", "coffee"],
    ["the key behind a scope", "category:coffee", "coffee"],
    ["the key behind a scope in another case", "KEY: coffee", "coffee"],
    ["a key that looks like a scope", "pack:standup", "pack:standup"],
    ["the end of a key", "preference", "deploy/preference"],
    ["the beginning of a key", "people/rel", "people/release-notes"],
    ["the beginning of a longer text", "coffee/with/milk", "coffee"],
    ["one letter left out", "cofee", "coffee"],
    ["one letter too many", "cofffee", "coffee"],
    ["another letter", "koffee", "coffee"],
    ["two letters exchanged", "db/chioce", "db/choice"],
    ["two typing errors in a long key", "deplay/prefrence", "deploy/preference"],
  ])("%s", (_, text, key) => {
    expect(nearestKeys(text, ["café", "pack:standup", ...KEYS])).toEqual([key]);
  });

  test.each([
    "tea",
    "K2",
    "k/x/y/z!",
    "co",
    "all",
    "packs",
    "*",
    "",
    ":",
    "/",
    "deplxy/prxfxrence",
    "x".repeat(600),
  ])("nothing for %s", (text) => {
    expect(
      nearestKeys(
        text,
        KEYS.filter((key) => key !== "k"),
      ),
    ).toEqual([]);
  });

  test("at most three keys, the most similar first, equal ones in their given order", () => {
    const keys = ["deploys", "deploy/eu", "x/deploy", "Deploy", "y/deploy", "deploy.", "deploy/us"];
    expect(nearestKeys("deploy", keys)).toEqual(["Deploy", "deploy.", "x/deploy"]);
  });
});

test("comparing in batches gives the same result as comparing at once", () => {
  const key = fc.string({ unit: fc.constantFrom("a", "b", "/", "A"), minLength: 1, maxLength: 5 });
  const some = fc.array(key, { maxLength: 20 });
  fc.assert(
    fc.property(key, some, some, (text, first, second) => {
      expect(nearestKeys(text, [...nearestKeys(text, first), ...second])).toEqual(
        nearestKeys(text, [...first, ...second]),
      );
    }),
  );
});

test("for any input, the result consists of the keys, and comes quickly", () => {
  const text = fc.oneof(fc.string({ unit: "binary", maxLength: 600 }), fc.constant("é".repeat(256)));
  fc.assert(
    fc.property(text, fc.array(text, { maxLength: 30 }), (wanted, keys) => {
      for (const near of nearestKeys(wanted, keys)) expect(keys).toContain(near);
    }),
  );
});
