import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { citedPath, docidOf, parseDocid, parsePath, pathOf } from "../../../engine/projections/paths.ts";

describe("a path", () => {
  test.each([
    ["deploy", "helmdeck/user_facts/deploy.md"],
    ["deploy/konflux", "helmdeck/user_facts/deploy/konflux.md"],
    ["v1.2", "helmdeck/user_facts/v1.2.md"],
    ["notes.md", "helmdeck/user_facts/notes.md.md"],
    ["a b", "helmdeck/user_facts/a%20b.md"],
    ["50%", "helmdeck/user_facts/50%25.md"],
    ["50%25", "helmdeck/user_facts/50%2525.md"],
    ["a#L1", "helmdeck/user_facts/a%23L1.md"],
    ["a?b", "helmdeck/user_facts/a%3Fb.md"],
    ["a:b", "helmdeck/user_facts/a%3Ab.md"],
    ["a\\b", "helmdeck/user_facts/a%5Cb.md"],
    ["é", "helmdeck/user_facts/%C3%A9.md"],
    ["..", "helmdeck/user_facts/%2E%2E.md"],
    [".", "helmdeck/user_facts/%2E.md"],
    ["../../etc/passwd", "helmdeck/user_facts/%2E%2E/%2E%2E/etc/passwd.md"],
    ["a..b", "helmdeck/user_facts/a%2E%2Eb.md"],
    [".env", "helmdeck/user_facts/%2Eenv.md"],
    ["end.", "helmdeck/user_facts/end%2E.md"],
    ["/etc", "helmdeck/user_facts/%2Fetc.md"],
    ["a//b", "helmdeck/user_facts/a/%2Fb.md"],
    ["a/", "helmdeck/user_facts/a%2F.md"],
    ["//", "helmdeck/user_facts/%2F%2F.md"],
  ])("of the key %j is %s, and back", (key, path) => {
    expect(pathOf("user_facts", key)).toBe(path);
    expect(parsePath(path)).toEqual({ origin: "fact", category: "user_facts", key });
  });

  test("distinguishes upper and lower case", () => {
    expect(parsePath("helmdeck/user_facts/Deploy.md")?.key).toBe("Deploy");
    expect(pathOf("user_facts", "Deploy")).not.toBe(pathOf("user_facts", "deploy"));
  });

  test("of an audit row names its origin", () => {
    const key = "pack_history/lint%2Fdeep/00000000000000000001";
    expect(parsePath(pathOf("pack_history", key))).toEqual({
      origin: "audit",
      category: "pack_history",
      key,
    });
  });

  test.each([
    "",
    "helmdeck",
    "helmdeck/",
    "helmdeck/.md",
    "helmdeck/my-memory.md",
    "MEMORY.md",
    "user_facts/deploy.md",
    "/helmdeck/user_facts/deploy.md",
    "helmdeck//user_facts/deploy.md",
    "helmdeck/user_facts/.md",
    "helmdeck/user_facts/deploy",
    "helmdeck/user_facts/deploy.MD",
    "Helmdeck/user_facts/deploy.md",
    "helmdeck/User_facts/deploy.md",
    "helmdeck/user_facts/../user_facts/deploy.md",
    "helmdeck/user_facts/./deploy.md",
    "helmdeck/../helmdeck/user_facts/deploy.md",
    "helmdeck/user_facts/%64eploy.md",
    "helmdeck/user_facts/a%2fb.md",
    "helmdeck/user_facts/a%2Fb.md",
    "helmdeck/user_facts/a b.md",
    "helmdeck/user_facts/%.md",
    "helmdeck/user_facts/%GG.md",
    "helmdeck/user_facts/%FF.md",
    "helmdeck/user_facts/%C0%AE.md",
    "helmdeck/user_facts/é.md",
    "helmdeck/user_facts/a\u0000.md",
    "helmdeck/user_facts/%2E%2E%2Fcache/x.md",
    "helmdeck/%2E%2E/x.md",
    "helmdeck/cache/deploy.md",
    "helmdeck/plan_history/p.md",
    "helmdeck/a%2Fb/c.md",
    "helmdeck/user_facts/deploy.md\n",
    "helmdeck/user_facts/deploy.md#L1",
  ])("%j is not a memory path", (path) => {
    expect(parsePath(path)).toBeUndefined();
  });
});

const key = fc.oneof(
  fc.string({ unit: "binary", minLength: 1 }),
  fc.string({
    unit: fc.constantFrom(
      "/",
      ".",
      "%",
      "2",
      "E",
      "F",
      "#",
      "?",
      " ",
      "é",
      "A",
      "a",
      "\n",
      "\u0000",
      "\u202e",
    ),
    minLength: 1,
  }),
);
const category = fc
  .stringMatching(/^[a-z0-9][a-z0-9_.-]{0,63}$/)
  .filter((name) => !/^(cache|plan_history)$/.test(name));

test("every key of every category has one path of plain characters, which stays in its folder and maps back to the key", () => {
  fc.assert(
    fc.property(category, key, (category, key) => {
      const path = pathOf(category, key);
      expect(path).toMatch(/^helmdeck\/[A-Za-z0-9_.~@+=,%/-]+\.md$/);
      expect(path).not.toMatch(/\.\.|\/\/|\/\.|\.\//);
      expect(parsePath(path)).toMatchObject({ category, key });
    }),
    { numRuns: 2_000 },
  );
});

test("no two keys have the same path, and no two paths the same key", () => {
  fc.assert(
    fc.property(category, key, category, key, (categoryA, keyA, categoryB, keyB) => {
      const isSame = categoryA === categoryB && keyA === keyB;
      expect(pathOf(categoryA, keyA) === pathOf(categoryB, keyB)).toBe(isSame);
    }),
  );
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", ".", "/", "%", "2", "F", "E", "B", "b", "5"), minLength: 1 }),
      (text) => {
        const path = `helmdeck/c/${text}.md`;
        const place = parsePath(path);
        if (place !== undefined) expect(pathOf(place.category, place.key)).toBe(path);
      },
    ),
    { numRuns: 2_000 },
  );
});

test("a docid splits at the first slash, and names only entries in the corpus", () => {
  expect(parseDocid(docidOf("prefs", "deploy/region"))).toEqual({
    origin: "fact",
    category: "prefs",
    key: "deploy/region",
  });
  for (const docid of ["deploy", "prefs/", "/x", "cache/x", "Prefs/x", "../x", "key:a/b"])
    expect(parseDocid(docid)).toBeUndefined();
});

test("a citation's lines are removed", () => {
  expect(citedPath("helmdeck/c/a.md#L3-L5")).toBe("helmdeck/c/a.md");
  expect(citedPath("helmdeck/c/a.md#L3")).toBe("helmdeck/c/a.md");
  expect(citedPath("helmdeck/c/a.md:3-5")).toBe("helmdeck/c/a.md");
  expect(citedPath("helmdeck/c/a.md#x")).toBe("helmdeck/c/a.md#x");
});
