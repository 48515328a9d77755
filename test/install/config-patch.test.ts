/** The patches that OpenClaw gets to change one configuration into another, and the settings that remain after an uninstallation. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { patchBetween } from "../../install/config-section.ts";
import { isEqual, isObject, type Json, type JsonObject, objectOf, own } from "../../install/openclaw-json.ts";
import { withoutPlugin } from "../../install/steps/install-plugin.ts";
import { memory } from "./configuration.ts";

describe("patchBetween", () => {
  it("returns the merge patch that changes one configuration into the other", () => {
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
  const off = { entries: { [ID]: { enabled: false } } };
  it.each<[string, Json | undefined, Json | undefined, Json | undefined]>([
    ["nothing was there", undefined, off, undefined],
    ["an empty object was there", {}, { entries: { [ID]: {} } }, {}],
    [
      "other plugins have entries",
      { entries: { x: {} } },
      { entries: { x: {}, [ID]: {} } },
      { entries: { x: {} } },
    ],
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
    ["the host removed all of it", undefined, undefined, undefined],
  ])("when %s", (_, before, now, expected) => {
    expect(withoutPlugin({ before, last: off, now }, ID, ["ollama"])).toEqual(expected);
  });

  it.each<[string, JsonObject, Json, JsonObject]>([
    ["unchanged", { config: { a: 1 } }, { enabled: true, config: { a: 1 } }, { config: { a: 1 } }],
    [
      "with the operator's later change",
      { config: { a: 1 } },
      { enabled: true, config: { a: 2 } },
      { config: { a: 2 } },
    ],
    ["disabled again", { enabled: false }, { enabled: true }, { enabled: false }],
    ["after a run that was killed", { config: { a: 1 } }, { enabled: false }, { config: { a: 1 } }],
  ])("restores an operator's entry %s, whatever the host has left of it", (_, entry, last, expected) => {
    const then = { before: { entries: { [ID]: entry } }, last: { entries: { [ID]: last } } };
    for (const now of [undefined, {}, off, { entries: {} }])
      expect(withoutPlugin({ ...then, now }, ID, [])).toEqual({ entries: { [ID]: expected } });
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
