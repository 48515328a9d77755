/** Which packs may be registered, and how an engine describes its packs. */
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { definePack } from "../../../packs/engine/define-pack.ts";
import type { Pack } from "../../../packs/engine/pack-contract.ts";
import { openPackRig } from "./rig.ts";

const sound: Pack = {
  name: "sound.pack",
  version: "1.0.0",
  description: "Answers nothing.",
  input: z.object({}),
  output: z.object({}),
  run: async () => ({}),
};

describe("registration refuses", () => {
  const NAMES = [
    "",
    "a b",
    "a\n",
    "a".repeat(65),
    undefined,
    7,
    ..."Upper a. .a a..b a__b a-b 1a ä a_".split(" "),
  ];
  const VERSIONS = [
    "",
    "1.0.0 ",
    undefined,
    ..."1 1.0 v1.0.0 01.0.0 1.0.0-01 1.0.0- 1.0.0+ latest".split(" "),
  ];
  const TTLS = [0, -1, 1.5, 31_536_001, Number.NaN, Number.POSITIVE_INFINITY, "60"];
  const cached = { memory: { cache: true, ttlSeconds: 60 } };
  test.each<readonly [string, Record<string, unknown>, string]>([
    ...NAMES.map((name) => [`the name ${JSON.stringify(name)}`, { name }, "name"] as const),
    ...VERSIONS.map((version) => [`the version ${JSON.stringify(version)}`, { version }, "version"] as const),
    ...TTLS.map(
      (ttl) =>
        [`a cache for ${ttl} s`, { memory: { cache: true, ttlSeconds: ttl } }, "memory.ttlSeconds"] as const,
    ),
    ["no description", { description: " " }, "description"],
    ["a description that is too long", { description: "a".repeat(1_025) }, "description"],
    ["an input that is not a schema", { input: {} }, "input"],
    ["no output schema", { output: undefined }, "output"],
    ["no handler", { run: undefined }, "run"],
    ["a deadline of 0 ms", { deadlineMs: 0 }, "deadlineMs"],
    ["a deadline of half a millisecond", { deadlineMs: 0.5 }, "deadlineMs"],
    ["a deadline of more than a day", { deadlineMs: 86_400_001 }, "deadlineMs"],
    ["a cache without a time to live", { memory: { cache: true } }, "memory.ttlSeconds"],
    ["a cache with credentials", { ...cached, credentials: true }, "memory.cache"],
    ["a cache with a session", { ...cached, session: true }, "memory.cache"],
    ["a cache with processes", { ...cached, startsProcess: true }, "memory.cache"],
    ["a reserved category", { memory: { category: "pack_history" } }, "category"],
    ["an odd category", { memory: { category: "Big Words" } }, "category"],
  ])("%s", async (_, change, field) => {
    const refused = { code: "invalid_input", details: { field } };
    const pack = { ...sound, ...change } as Pack; // simulates a pack written without types
    expect(() => definePack(pack)).toThrow(expect.objectContaining(refused));
    await expect(openPackRig([pack])).rejects.toMatchObject(refused);
  });

  test("two packs with one name", async () => {
    await expect(openPackRig([sound, { ...sound, version: "2.0.0" }])).rejects.toThrow(
      "name of pack sound.pack is taken by another pack",
    );
  });

  test("a schema that cannot be described to clients", async () => {
    await expect(openPackRig([{ ...sound, output: z.object({ at: z.date() }) }])).rejects.toMatchObject({
      code: "invalid_input",
      details: { field: "output" },
    });
  });
});

test.each(["a", "a1.b_c.d2", "github.list_issues", "a".repeat(64)])("the name %s is valid", (name) => {
  expect(definePack({ ...sound, name }).name).toBe(name);
});

test.each(["0.0.0", "1.0.0-rc.1", "1.0.0-0a.b-c+build.007", "10.20.30"])(
  "the version %s is valid",
  (version) => {
    expect(definePack({ ...sound, version }).version).toBe(version);
  },
);

test("the list for clients has each pack by name, with its input and output schema", async () => {
  const later = definePack({
    ...sound,
    name: "later",
    startsProcess: true,
    effects: { readOnly: true },
    input: z.object({ size: z.number().default(3) }),
    output: z.object({ size: z.number() }),
    run: async (_, { size }) => ({ size }),
  });
  const early = { ...sound, name: "early", memory: { cache: true, ttlSeconds: 60 } };
  const { engine } = await openPackRig([later, early]);
  expect(engine.list()).toMatchObject([
    { name: "early", cached: true, startsProcess: false },
    {
      name: "later",
      version: "1.0.0",
      cached: false,
      startsProcess: true,
      effects: { readOnly: true },
      inputSchema: { type: "object", properties: { size: { type: "number", default: 3 } } },
      outputSchema: { type: "object", required: ["size"] },
    },
  ]);
  expect(engine.list()[1]?.inputSchema).not.toHaveProperty("required");
});
