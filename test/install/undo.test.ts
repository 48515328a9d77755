/** Taking changes back: what we set goes, what was there comes back, what others did since stays. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isEqual, isObject, type Json, type JsonObject, objectOf, own } from "../../install/json.ts";
import { searchSetting } from "../../install/plan/search.ts";
import { merged, patchBetween, takenBack, withoutPlugin, withSearch } from "../../install/undo.ts";

const key = fc.constantFrom(
  "search",
  "provider",
  "model",
  "remote",
  "baseUrl",
  "apiKey",
  "citations",
  "__proto__",
);
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>("ollama", "openai", true, 7),
    fc.array(fc.constantFrom<Json>("a", "b"), { maxLength: 2 }),
    fc.array(fc.tuple(key, tie("tree")), { maxLength: 4 }).map((entries) => objectOf(entries)),
  ),
}));
const memory = fc.option(
  fc.array(fc.tuple(key, tree), { maxLength: 4 }).map((entries) => objectOf(entries)),
  { nil: undefined },
);
const setting = fc
  .tuple(
    fc.constantFrom("nomic-embed-text", "mxbai-embed-large"),
    fc.constantFrom("http://a:1", "http://b:2"),
  )
  .map(([model, url]) => searchSetting(model, url));

describe("takenBack", () => {
  it("gives back exactly what was there when nobody else wrote", () => {
    fc.assert(
      fc.property(memory, setting, (before, set) => {
        const after = withSearch(before, set);
        expect(takenBack(before, after, after)).toEqual(before);
      }),
    );
  });

  it("leaves what somebody else added, and takes back the rest", () => {
    const foreign = fc.tuple(fc.constantFrom("citations", "extra"), fc.constantFrom<Json>("auto", 3));
    fc.assert(
      fc.property(memory, setting, foreign, (before, set, [name, value]) => {
        const after = withSearch(before, set);
        const now = merged(after, objectOf([[name, value]]));
        const kept = takenBack(before, after, now);
        expect(isObject(kept) && own(kept, name)).toEqual(value);
        expect(isObject(kept) ? own(kept, "search") : undefined).toEqual(
          isObject(before) ? own(before, "search") : undefined,
        );
      }),
    );
  });

  it("leaves a provider that somebody chose since", () => {
    const after = withSearch(
      { search: { provider: "openai" } },
      searchSetting("nomic-embed-text", "http://a:1"),
    );
    const now = merged(after, { search: { provider: "voyage" } });
    expect(takenBack({ search: { provider: "openai" } }, after, now)).toEqual({
      search: { provider: "voyage" },
    });
  });

  it("brings a key back that must not have reached another service", () => {
    const before = { search: { provider: "openai", remote: { baseUrl: "http://x", apiKey: "k" } } };
    const after = withSearch(before, searchSetting("nomic-embed-text", "http://a:1"));
    expect(JSON.stringify(after)).not.toContain("apiKey");
    expect(takenBack(before, after, after)).toEqual(before);
  });
});

describe("patchBetween", () => {
  it("is what a merge patch has to say to get from one to the other", () => {
    fc.assert(
      fc.property(memory, memory, (from, to) => {
        const patch = patchBetween(from, to);
        expect(patch === undefined ? from : applied(from, patch)).toEqual(to);
      }),
    );
  });
});

describe("withoutPlugin", () => {
  const ID = "helmdeck-memory";
  it.each<[string, Json | undefined, Json | undefined, Json | undefined]>([
    ["nothing was there", undefined, { entries: { [ID]: { enabled: false } } }, undefined],
    ["an empty object was there", {}, { entries: { [ID]: {} } }, {}],
    ["others are there", { entries: { x: {} } }, { entries: { x: {}, [ID]: {} } }, { entries: { x: {} } }],
    [
      "a list was there",
      { allow: ["memory-core"] },
      { allow: ["memory-core", "ollama", ID], entries: { [ID]: { enabled: true } } },
      { allow: ["memory-core"] },
    ],
    [
      "the provider was allowed before",
      { allow: ["ollama"] },
      { allow: ["ollama", ID] },
      { allow: ["ollama"] },
    ],
    [
      "ours was there before",
      { entries: { [ID]: { a: 1 } } },
      { entries: { [ID]: {} } },
      { entries: { [ID]: {} } },
    ],
  ])("when %s", (_, before, now, expected) => {
    expect(withoutPlugin(before, now, ID, ["ollama"])).toEqual(expected);
  });
});

/** JSON merge patch, as `openclaw config patch` applies it. */
function applied(target: Json | undefined, patch: Json): Json | undefined {
  if (patch === null) return undefined;
  if (!isObject(patch)) return patch;
  const base: JsonObject = isObject(target) ? target : {};
  const keys = new Set([...Object.keys(base), ...Object.keys(patch)]);
  return objectOf(
    [...keys].flatMap((name) => {
      const over = own(patch, name);
      const value = over === undefined ? own(base, name) : applied(own(base, name), over);
      return value === undefined || isEqual(value, undefined) ? [] : [[name, value] as const];
    }),
  );
}
