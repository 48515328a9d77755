/** Restoring a setting: the former section returns as a unit, later changes by others stay, and two services are never mixed. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ConfigSection,
  changeOf,
  FACTS,
  restored,
  SEARCH,
  withSetting,
} from "../../install/config-section.ts";
import type { Change } from "../../install/journal.ts";
import { at, isObject, type Json, type JsonObject, objectOf, own } from "../../install/openclaw-json.ts";
import { factsSetting } from "../../install/steps/point-facts.ts";
import { searchSetting } from "../../install/steps/point-search.ts";
import { memory } from "./configuration.ts";

const model = fc.constantFrom("nomic-embed-text", "mxbai-embed-large");
const url = fc.constantFrom("http://a:1", "http://b:2");
const searchSet = fc.oneof(
  fc
    .tuple(model, url)
    .map(([name, address]) => searchSetting({ provider: "ollama", model: name, baseUrl: address })),
  fc.constant(searchSetting({ provider: "helmdeck-builtin" })),
);
const factsSet = fc
  .tuple(model, url)
  .map(([name, address]) => factsSetting({ provider: "ollama", model: name, url: address }));
const SECTIONS = [
  ["memory.search", SEARCH, searchSet],
  ["helmdeck's facts", FACTS, factsSet],
] as const;
const OURS = searchSetting({ provider: "ollama", model: "nomic-embed-text", baseUrl: "http://a:1" });
const OURS_OF_FACTS = factsSetting({ provider: "ollama", model: "nomic-embed-text", url: "http://a:1" });
const KEY = "sk-own";
const OWN = { provider: "openai-compatible", url: "https://own", model: "m", apiKey: KEY };

describe.each(SECTIONS)("%s", (_, section, setting) => {
  it("is restored exactly after any number of settings if nothing else changed", () => {
    fc.assert(
      fc.property(memory, fc.array(setting, { minLength: 1, maxLength: 3 }), (before, sets) => {
        let [now, change]: [Json | undefined, Change | undefined] = [before, undefined];
        for (const set of sets) {
          change = changeOf(section, change, now, set);
          now = withSetting(section, now, set);
        }
        expect(change && restored(section, change, now)).toEqual(before);
      }),
    );
  });

  it("is restored exactly if a run was killed before its write", () => {
    fc.assert(
      fc.property(memory, setting, (before, set) => {
        expect(restored(section, changeOf(section, undefined, before, set), before)).toEqual(before);
      }),
    );
  });

  it("keeps keys that the operator added, and restores the others", () => {
    const foreign = fc.tuple(fc.constantFrom("citations", "extra"), fc.constantFrom<Json>("auto", 3));
    fc.assert(
      fc.property(memory, setting, foreign, (before, set, [name, value]) => {
        const change = changeOf(section, undefined, before, set);
        const now = objectOf([...entriesOf(withSetting(section, before, set)), [name, value]]);
        const kept = restored(section, change, now);
        expect(isObject(kept) && own(kept, name)).toEqual(value);
        for (const key of section.keys)
          expect(inner(section, kept, key)).toEqual(inner(section, before, key));
      }),
    );
  });
});

describe("the operator's choice after the installation", () => {
  const before = { search: { provider: "openai", remote: { baseUrl: "https://openai", apiKey: KEY } } };
  const change = { before, sets: [OURS] };
  const remote = { baseUrl: "http://a:1" };

  const ours = { provider: "ollama", model: "bge-m3" };
  const theirs = { ...ours, remote: { baseUrl: "http://theirs:1" } };
  const voyage = { provider: "voyage", model: "voyage-3" };

  it.each<[string, Json, Json]>([
    [
      "our settings beside another provider go",
      { ...voyage, model: "nomic-embed-text", remote },
      { provider: "voyage" },
    ],
    ["another provider with its model is kept", { ...voyage, remote }, voyage],
    ["the operator's own Ollama is kept", theirs, theirs],
    ["another model on our service is removed with the service", { ...ours, remote }, before.search],
  ])("in memory.search: %s", (_, search, expected) => {
    expect(restored(SEARCH, change, { search })).toEqual({ search: expected });
  });

  const elsewhere = { provider: "ollama", model: "nomic-embed-text", url: "http://theirs:1" };
  it.each<[string, Json, Json]>([
    ["another address is kept", elsewhere, elsewhere],
    ["no embeddings", { provider: "none" }, { provider: "none" }],
    ["another model on our service is removed with the service", { ...ours, url: "http://a:1" }, OWN],
  ])("for helmdeck's facts: %s", (_, embeddings, expected) => {
    const facts = { before: { embeddings: OWN }, sets: [OURS_OF_FACTS] };
    expect(restored(FACTS, facts, { embeddings })).toEqual({ embeddings: expected });
  });
});

describe("a key for one service", () => {
  it("never appears with the address of another service, whatever changed in between", () => {
    const provider = fc.constantFrom("openai-compatible", "ollama", "voyage");
    const address = fc.constantFrom("https://own", "http://a:1", "http://theirs:1");
    const facts = fc.record<JsonObject>({ provider, url: address, model }, { requiredKeys: [] });
    const remote = address.map<Json>((baseUrl) => ({ baseUrl }));
    const search = fc.record<JsonObject>({ provider, model, remote }, { requiredKeys: [] });
    const before = { search: { provider: "openai", remote: { baseUrl: "https://own", apiKey: KEY } } };
    expect(JSON.stringify(withSetting(SEARCH, before, OURS))).not.toContain(KEY);
    expect(JSON.stringify(withSetting(FACTS, { embeddings: OWN }, OURS_OF_FACTS))).not.toContain(KEY);
    fc.assert(
      fc.property(facts, search, (embeddings, search) => {
        const change = { before: { embeddings: OWN }, sets: [OURS_OF_FACTS] };
        const kept = restored(FACTS, change, { embeddings });
        if (JSON.stringify(kept).includes(KEY)) expect(kept).toEqual(change.before);
        const left = restored(SEARCH, { before, sets: [OURS] }, { search });
        if (JSON.stringify(left).includes(KEY)) expect(left).toEqual(before);
      }),
    );
  });
});

function inner({ inner }: ConfigSection, value: Json | undefined, key: string): Json | undefined {
  return at(value, ...inner, key);
}

function entriesOf(value: Json): readonly (readonly [string, Json])[] {
  return isObject(value) ? Object.entries(value) : [];
}
