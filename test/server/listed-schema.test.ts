/** Schemas as tools list them: without lists of types, and without data that is mistaken for a schema. */
import { describe, expect, test } from "vitest";
import type { JsonSchema } from "../../app/wire/arguments.ts";
import { listedInput, listedOutput } from "../../server/mcp/tool-registry.ts";

describe("the schema of an input", () => {
  test.each<readonly [string, JsonSchema, JsonSchema]>([
    ["null is not listed where the field may be left out", { type: ["string", "null"] }, { type: "string" }],
    [
      "nor beside other alternatives",
      { anyOf: [{ type: "string", enum: ["a"] }, { type: "null" }], description: "d" },
      { type: "string", enum: ["a"], description: "d" },
    ],
    [
      "other lists of types are alternatives",
      { type: ["string", "integer", "null"], minLength: 1, description: "d" },
      {
        description: "d",
        anyOf: [
          { type: "string", minLength: 1 },
          { type: "integer", minLength: 1 },
        ],
      },
    ],
    [
      "also deep inside",
      { type: "array", items: { properties: { a: { type: ["boolean", "null"] } } } },
      { type: "array", items: { properties: { a: { type: "boolean" } } } },
    ],
    [
      "data stays as it is",
      { type: "object", default: { type: ["a", "b"] }, enum: [{ type: ["a", "b"] }] },
      { type: "object", default: { type: ["a", "b"] }, enum: [{ type: ["a", "b"] }] },
    ],
  ])("%s", (_, given, listed) => {
    const within = (field: JsonSchema) => ({ type: "object", properties: { field } });
    expect(listedInput(within(given))).toEqual(within(listed));
  });

  test("lets a required field be null", () => {
    const field = { type: ["string", "null"], minLength: 1 };
    expect(listedInput({ type: "object", properties: { field }, required: ["field"] })).toEqual({
      type: "object",
      properties: { field: { anyOf: [{ type: "string", minLength: 1 }, { type: "null" }] } },
      required: ["field"],
    });
  });

  test("lets a field have the name of a keyword", () => {
    const given = { properties: { type: { type: ["string", "null"] }, required: { type: "string" } } };
    expect(listedInput(given)).toEqual({
      properties: { type: { type: "string" }, required: { type: "string" } },
    });
  });
});

test("the schema of an answer omits descriptions and keeps null", () => {
  const given = {
    type: "object",
    description: "d",
    properties: { description: { type: ["string", "null"], description: "d", examples: ["e"] } },
  };
  expect(listedOutput(given)).toEqual({
    type: "object",
    properties: { description: { anyOf: [{ type: "string" }, { type: "null" }] } },
  });
});
