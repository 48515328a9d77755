import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { routeToolCall } from "../../plugin/routing-hook.ts";
import { TRAP } from "./fake-host.ts";

const ON = { searchByDefault: true };
const OFF = { searchByDefault: false };
const search = (params: Record<string, unknown>) => ({ toolName: "memory_search", params });
const get = (params: Record<string, unknown>) => ({ toolName: "memory_get", params });

describe("memory_search", () => {
  test.each([undefined, null, ""])(
    "without a corpus (%j) searches every corpus, and keeps the other parameters",
    (corpus) => {
      expect(routeToolCall(search({ query: "x", maxResults: 3, corpus }), ON)).toEqual({
        params: { query: "x", maxResults: 3, corpus: "all" },
      });
    },
  );

  test.each(["memory", "wiki", "all", "sessions", "nonsense"])("with corpus %s is not changed", (corpus) => {
    expect(routeToolCall(search({ query: "x", corpus }), ON)).toBeUndefined();
  });

  test("is not changed if the configuration disables it", () => {
    expect(routeToolCall(search({ query: "x" }), OFF)).toBeUndefined();
  });
});

describe("memory_get", () => {
  test.each([undefined, "memory", "all", "sessions"])(
    "of a memory path with corpus %s uses the wiki corpus",
    (corpus) => {
      expect(routeToolCall(get({ path: "helmdeck/user_facts/x.md", from: 2, corpus }), OFF)).toEqual({
        params: { path: "helmdeck/user_facts/x.md", from: 2, corpus: "wiki" },
      });
    },
  );

  test.each(["MEMORY.md", "memory/helmdeck/x.md", "helmdeck", "helmdeckx/y.md", 7, undefined])(
    "of %j is not changed",
    (path) => {
      expect(routeToolCall(get({ path }), ON)).toBeUndefined();
    },
  );

  test("of a memory path in the wiki corpus is not changed", () => {
    expect(routeToolCall(get({ path: "helmdeck/x.md", corpus: "wiki" }), ON)).toBeUndefined();
  });
});

test("other tools are not changed", () => {
  expect(routeToolCall({ toolName: "exec", params: { query: "x" } }, ON)).toBeUndefined();
});

test("the hook never throws", () => {
  expect(routeToolCall(TRAP, ON)).toBeUndefined();
  expect(routeToolCall({ toolName: "memory_search", params: TRAP }, ON)).toBeUndefined();
  fc.assert(
    fc.property(fc.anything(), (event) => {
      expect(routeToolCall(event, ON)).toBeUndefined();
    }),
  );
  fc.assert(
    fc.property(fc.constantFrom("memory_search", "memory_get"), fc.anything(), (toolName, params) => {
      expect(() => routeToolCall({ toolName, params }, ON)).not.toThrow();
    }),
  );
});
