import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../plugin/config.ts";

describe("the configuration", () => {
  test("by default searches memory, and is closed to shared contexts", () => {
    for (const raw of [undefined, null, {}, [], "x", 7]) {
      expect(parseConfig(raw)).toEqual({
        source: { kind: "embedded" },
        encryptionKey: undefined,
        databasePath: undefined,
        searchByDefault: true,
        promptHints: true,
        pages: true,
        recall: "balanced",
        lifetimeDays: undefined,
        renewOnUse: false,
        autoRecall: "off",
        captureRequests: "off",
        embeddings: { settings: { provider: "builtin", isDefault: true }, apiKey: undefined },
        subjects: new Map(),
        allow: new Set(),
        auditServers: ["helmdeck"],
        auditTools: "helmdeck",
        auditDeny: [],
        auditInputs: new Map([
          ["read", ["path"]],
          ["write", ["path"]],
          ["edit", ["path"]],
        ]),
      });
    }
  });

  test("can have every setting", () => {
    const reference = { source: "env", provider: "default", id: "K" };
    const raw = {
      encryptionKey: reference,
      databasePath: "/d/m.sqlite",
      searchByDefault: false,
      promptHints: false,
      pages: false,
      recall: "eager",
      lifetimeDays: 365,
      renewOnUse: true,
      autoRecall: "sure",
      captureRequests: "store",
      embeddings: {
        provider: "openai-compatible",
        url: "https://vectors.example/v1",
        model: "m",
        dimensions: 256,
        apiKey: reference,
      },
      subjects: { " Work ": " alice " },
      allow: ["sandboxed", "groups"],
      auditServers: [],
    };
    const audit = {
      auditTools: "all",
      auditDeny: [" Exec ", "bank__*"],
      auditInputs: { Write: [], cron: ["action"] },
    };
    expect(parseConfig({ ...raw, ...audit })).toEqual({
      ...raw,
      source: { kind: "embedded" },
      embeddings: {
        settings: {
          provider: "openai-compatible",
          url: "https://vectors.example/v1",
          model: "m",
          dimensions: 256,
        },
        apiKey: reference,
      },
      subjects: new Map([["work", "alice"]]),
      allow: new Set(["groups", "sandboxed"]),
      auditTools: "all",
      auditDeny: ["exec", "bank__*"],
      auditInputs: new Map([
        ["read", ["path"]],
        ["write", []],
        ["edit", ["path"]],
        ["cron", ["action"]],
      ]),
    });
  });

  test.each([{ auditTools: "All" }, { auditTools: true }, { auditTools: ["all"] }])(
    "records only helmdeck's own tools unless auditTools is all: %j",
    (raw) => {
      expect(parseConfig(raw).auditTools).toBe("helmdeck");
    },
  );

  test("keeps at most as many inputs of a tool as a row may have", () => {
    const many = Array.from({ length: 20 }, (_, number) => `input${number}`);
    expect(parseConfig({ auditInputs: { exec: many, read: "path" } }).auditInputs).toEqual(
      new Map([
        ["read", []],
        ["write", ["path"]],
        ["edit", ["path"]],
        ["exec", many.slice(0, 16)],
      ]),
    );
  });

  test.each([{ auditDeny: "exec" }, { auditDeny: ["exec", 7] }, { auditDeny: null }])(
    "denies every tool if the deny list is malformed: %j",
    (raw) => {
      expect(parseConfig(raw).auditDeny).toEqual(["*"]);
    },
  );

  test.each([
    { allow: "groups" },
    { allow: true },
    { allow: { groups: true } },
    { allow: ["Groups", "all", 1, null, "__proto__"] },
  ])("opens a context only by its exact name: %j", (raw) => {
    expect(parseConfig(raw).allow).toEqual(new Set());
  });

  test.each(["", "  ", 7, null, {}, "a\u0000b", "a\u2028b", "x".repeat(513), "\ud800"])(
    "keeps an agent's malformed subject %j as malformed, so that the agent is refused",
    (subject) => {
      expect(parseConfig({ subjects: { work: subject } }).subjects).toEqual(new Map([["work", undefined]]));
    },
  );

  test.each([
    [undefined, { provider: "builtin", isDefault: true }],
    [{}, { provider: "builtin", isDefault: true }],
    ["http://x", { provider: "builtin", isDefault: true }],
    [{ provider: "none", url: "http://x" }, { provider: "none" }],
    [{ provider: "builtin" }, { provider: "builtin" }],
    [
      { provider: "builtin", url: "http://x" },
      { provider: "builtin", former: { provider: "ollama", url: "http://x", model: "nomic-embed-text" } },
    ],
    [
      { provider: "ollama" },
      { provider: "ollama", url: "http://helmdeck-embeddings:11434", model: "nomic-embed-text" },
    ],
    [{ url: "http://x" }, { provider: "ollama", url: "http://x", model: "nomic-embed-text" }],
    [
      { provider: "openai-compatible", model: "m" },
      { provider: "unusable", problem: expect.stringMatching(/embeddings\.url /) },
    ],
    [
      { provider: "openai-compatible", url: "http://x" },
      { provider: "unusable", problem: expect.stringMatching(/embeddings\.model /) },
    ],
    [
      { provider: "Ollama" },
      { provider: "unusable", problem: expect.stringMatching(/embeddings\.provider /) },
    ],
    [{ url: 7 }, { provider: "unusable", problem: expect.stringMatching(/embeddings\.url /) }],
    [
      { provider: "ollama", dimensions: 0.5 },
      { provider: "unusable", problem: expect.stringMatching(/embeddings\.dimensions /) },
    ],
    [
      { url: "http://x", keepAlive: "24h" },
      { provider: "ollama", url: "http://x", model: "nomic-embed-text", keepAlive: "24h" },
    ],
    [
      { url: "http://x", keepAlive: "for ever" },
      { provider: "unusable", problem: expect.stringMatching(/embeddings\.keepAlive .*30m or 24h/) },
    ],
    [
      { provider: "openai-compatible", url: "http://x", model: "m", keepAlive: "24h" },
      { provider: "unusable", problem: expect.stringMatching(/embeddings\.keepAlive .*to Ollama only/) },
    ],
  ])("reads embeddings %j", (embeddings, settings) => {
    expect(parseConfig({ embeddings }).embeddings.settings).toEqual(settings);
  });

  test("never throws", () => {
    const fields = fc.record(
      {
        ...Object.fromEntries(Object.keys(parseConfig({})).map((field) => [field, fc.anything()])),
        auditTools: fc.constantFrom("all", "helmdeck", 7),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fields, fc.anything()), (raw) => {
        expect(() => parseConfig(raw)).not.toThrow();
      }),
    );
  });
});

describe("the source", () => {
  const TOKENS = { Main: { file: "/t" } };

  test("can be an engine with a token for each agent, and ignores subjects then", () => {
    const source = {
      kind: "engine",
      url: "https://e.example",
      tokens: TOKENS,
      fingerprint256: "ab",
      caFile: "/c",
    };
    expect(parseConfig({ source, subjects: { main: "alice" } })).toMatchObject({
      source: {
        kind: "engine",
        settings: { url: "https://e.example", fingerprint256: "ab", caFile: "/c", allowPlainHttp: false },
        tokens: new Map([["main", { file: "/t" }]]),
      },
      subjects: new Map(),
    });
  });

  // An unintended second memory would split an agent's knowledge.
  test.each(["engine", {}, { kind: "helmsdeck" }, { kind: "engine", url: 7 }, []])(
    "%j is malformed, and does not fall back to this host's memory",
    (source) => {
      expect(parseConfig({ source }).source).toMatchObject({ kind: "engine", settings: { url: "" } });
    },
  );

  test.each([undefined, null, { kind: "embedded" }])("is this host's memory with %j", (source) => {
    expect(parseConfig({ source }).source).toEqual({ kind: "embedded" });
  });
});
