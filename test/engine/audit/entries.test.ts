import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  auditEntry,
  checkAuditRow,
  parseAuditEntry,
  requireUnixNs,
} from "../../../engine/audit/audit-entries.ts";
import { RunClock } from "../../../engine/audit/audit-keys.ts";
import { LEARNABLE_FIELDS, learnableInputs } from "../../../engine/audit/learnable.ts";
import { HelmdeckError } from "../../../engine/errors.ts";
import { namespaceOf } from "../../../engine/store/namespace.ts";

const alice = namespaceOf("alice");
const NOW = Date.parse("2026-11-20T12:00:00.250Z");
const AT = Math.floor(NOW / 1_000);
const run = { pack: "github.lint", outcome: "ok", at_unix: AT };
const pipelineRun = { pipeline: "nightly", run_id: "r-1", outcome: "succeeded", at_unix: AT };

const call = { tool: "exec", outcome: "ok", at_unix: AT };

function refusalOf(kind: "pack" | "pipeline" | "tool", row: unknown): string {
  try {
    checkAuditRow(kind, row);
  } catch (error) {
    if (error instanceof HelmdeckError && error.code === "invalid_input") return error.message;
    throw error;
  }
  return "accepted";
}

describe("an audit row", () => {
  test("becomes an entry under its pack and nanosecond, for 30 days", () => {
    const unixNs = BigInt(AT) * 1_000_000_000n + 250_000_007n;
    const entry = auditEntry(alice, checkAuditRow("pack", run), NOW, { unixNs });
    expect(entry).toMatchObject({
      namespace: "alice",
      origin: "audit",
      key: `pack_history/github.lint/0${AT}250000007`,
      category: "pack_history",
      tags: [],
      expiresAt: NOW + 30 * 24 * 3_600 * 1_000,
    });
    expect(entry.key).toMatch(/\/\d{20}$/);
  });

  test("comes back from its entry with every field", () => {
    const row = {
      ...run,
      version: "v2",
      duration_ms: 1_234,
      learn_inputs: { audience: "developers" },
      findings: [
        { code: "E1", severity: "high", file: "a.ts" },
        { code: "E2", severity: "low" },
        { code: "E3", severity: "" },
      ],
    };
    expect(parseAuditEntry(entryAsStored("pack", row))).toEqual({ kind: "pack", row });
    expect(parseAuditEntry(entryAsStored("pipeline", pipelineRun))).toEqual({
      kind: "pipeline",
      row: pipelineRun,
    });
    const failed = { ...call, outcome: "failed", duration_ms: 7, inputs: { path: "a.md" } };
    expect(parseAuditEntry(entryAsStored("tool", failed))).toEqual({ kind: "tool", row: failed });
  });

  test("of a tool's call has its own category, and truncated inputs", () => {
    const { row } = checkAuditRow("tool", { ...call, inputs: { path: ` ${"é".repeat(300)} `, other: " " } });
    expect(row).toEqual({ ...call, inputs: { path: "é".repeat(200) } });
    const entry = auditEntry(alice, checkAuditRow("tool", call), NOW);
    expect(entry).toMatchObject({ origin: "audit", category: "tool_history" });
    expect(entry.key).toMatch(/^tool_history\/exec\/\d{20}$/);
    expect(entry.expiresAt).toBe(NOW + 30 * 24 * 3_600 * 1_000);
  });

  test("of one name never matches the prefix of another", () => {
    const keys = ["a", "a/b", "a%2Fb", "ab", "A"].map(
      (pack) => auditEntry(alice, checkAuditRow("pack", { ...run, pack }), NOW).key,
    );
    expect(keys.filter((key) => key.startsWith("pack_history/a/"))).toHaveLength(1);
    expect(new Set(keys.map((key) => key.split("/")[1])).size).toBe(5);
    expect(keys.every((key) => key.split("/").length === 3)).toBe(true);
  });

  test.each([
    ["pack", undefined],
    ["pack", "lint"],
    ["pack", []],
    ["pack", { ...run, pack: undefined }],
    ["pack", { ...run, pack: "" }],
    ["pack", { ...run, pack: " " }],
    ["pack", { ...run, pack: "a\nb" }],
    ["pack", { ...run, pack: "a\u202eb" }],
    ["pack", { ...run, pack: "\ud800" }],
    ["pack", { ...run, pack: "é".repeat(129) }],
    ["pack", { ...run, pack: 1 }],
    ["pack", { ...run, outcome: undefined }],
    ["pack", { ...run, outcome: "a\u0000" }],
    ["pack", { ...run, outcome: "x".repeat(129) }],
    ["pack", { ...run, at_unix: undefined }],
    ["pack", { ...run, at_unix: 1.5 }],
    ["pack", { ...run, at_unix: -1 }],
    ["pack", { ...run, at_unix: NOW * 1_000 }],
    ["pack", { ...run, at_unix: "2026-11-20" }],
    ["pack", { ...run, at_unix: Number.NaN }],
    ["pack", { ...run, duration_ms: -1 }],
    ["pack", { ...run, duration_ms: "1s" }],
    ["pack", { ...run, duration_ms: Number.POSITIVE_INFINITY }],
    ["pack", { ...run, learn_inputs: "x" }],
    ["pack", { ...run, learn_inputs: { audience: 1 } }],
    ["pack", { ...run, findings: {} }],
    ["pack", { ...run, findings: [{ code: "E1" }] }],
    ["pack", { ...run, findings: Array.from({ length: 51 }, () => ({ code: "E", severity: "low" })) }],
    ["pack", { ...run, run_id: "r" }],
    ["pack", { ...run, inputs: { token: "s3cret" } }],
    ["pipeline", run],
    ["pipeline", { ...pipelineRun, run_id: undefined }],
    ["pipeline", { ...pipelineRun, outcome: "ok" }],
    ["pipeline", { ...pipelineRun, findings: [] }],
    ["tool", run],
    ["tool", { ...call, tool: "a\u202eb" }],
    ["tool", { ...call, outcome: "error" }],
    ["tool", { ...call, result: "s3cret" }],
    ["tool", { ...call, inputs: { path: 7 } }],
    ["tool", { ...call, inputs: { "a\nb": "x" } }],
    ["tool", { ...call, inputs: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`i${n}`, "x"])) }],
  ] as const)("as a %s is refused when it is %j", (kind, row) => {
    expect(refusalOf(kind, row)).toMatch(/^The audit row's .+\.$/);
  });

  test("is refused with the field's name and rule, and never its value", () => {
    expect(refusalOf("pack", { ...run, duration_ms: "s3cret" })).toBe(
      "The audit row's duration_ms must be of type number.",
    );
    expect(refusalOf("pack", { pack: "a", outcome: "ok" })).toBe("The audit row's at_unix is missing.");
    expect(refusalOf("pack", { ...run, findings: [{ code: "", severity: "s3cret" }] })).toBe(
      "The audit row's findings.0.code must not be empty.",
    );
    expect(refusalOf("pack", { ...run, "x\u001b": "s3cret" })).toBe(
      "The audit row's x[U+001B] is not a known field; leave it out.",
    );
  });

  test.each(["", "not json", "null", "[]", "{}", '{"pack":1}', '{"pack":"a","outcome":"ok"}'])(
    "that is damaged reads as undefined: %j",
    (text) => {
      expect(parseAuditEntry({ category: "pack_history", value: Buffer.from(text) })).toBeUndefined();
      expect(parseAuditEntry({ category: "pipeline_history", value: Buffer.from(text) })).toBeUndefined();
    },
  );

  test("of a later version with more fields can still be read", () => {
    const value = Buffer.from(JSON.stringify({ ...run, trace: "t" }));
    expect(parseAuditEntry({ category: "pack_history", value })?.row).toEqual(run);
  });

  test("of a plan is not shown", () => {
    expect(
      parseAuditEntry({ category: "plan_history", value: Buffer.from(JSON.stringify(run)) }),
    ).toBeUndefined();
  });
});

describe("two runs", () => {
  test("in the same second, without nanoseconds, get different keys, and the same ones at the next import", () => {
    const keyOf = (outcome: string) => auditEntry(alice, checkAuditRow("pack", { ...run, outcome }), NOW).key;
    expect(keyOf("ok")).not.toBe(keyOf("timeout"));
    expect(keyOf("ok")).toBe(keyOf("ok"));
    expect(keyOf("ok")).toMatch(new RegExp(`/0${AT}\\d{9}$`));
  });

  test("never have the same nanosecond, for any clock and randomness", () => {
    const draws = fc.array(
      fc.record({ now: fc.integer({ min: NOW, max: NOW + 3_000 }), at: fc.constantFrom(AT, AT + 1, 7) }),
      { maxLength: 50 },
    );
    fc.assert(
      fc.property(draws, fc.constantFrom(0, 0.5, 0.999_999_999), (ends, chance) => {
        let now = 0;
        const clock = new RunClock(
          () => now,
          () => chance,
        );
        const handedOut = ends.map((end) => {
          now = end.now;
          return { at: end.at, ns: clock.next(end.at) };
        });
        expect(new Set(handedOut.map(({ ns }) => ns)).size).toBe(handedOut.length);
        for (const { at, ns } of handedOut) expect(ns / 1_000_000_000n).toBe(BigInt(at));
      }),
    );
  });
});

describe("the key of an exported row", () => {
  const audit = checkAuditRow("pack", { ...run, pack: "a/b" });

  test("returns its nanosecond", () => {
    expect(requireUnixNs(`pack_history/a%2Fb/0${AT}000000042`, audit)).toBe(
      BigInt(AT) * 1_000_000_000n + 42n,
    );
  });

  test.each([
    `pack_history/a%2Fc/0${AT}000000042`,
    `pack_history/a/b/0${AT}000000042`,
    `pack_history/a%2fb/0${AT}000000042`,
    `pipeline_history/a%2Fb/0${AT}000000042`,
    `pack_history/a%2Fb/0${AT + 1}000000042`,
    `pack_history/a%2Fb/${AT}000000042`,
    "deploy",
    "",
  ])("is refused when it belongs to another row: %s", (key) => {
    expect(() => requireUnixNs(key, audit)).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });
});

describe("the inputs learnt from a run", () => {
  test("are the listed top-level texts that are not empty, truncated to 200 characters", () => {
    const inputs = {
      audience: " developers ",
      title: "é".repeat(300),
      theme: "",
      voice: "  ",
      model: 7,
      token: "s3cret",
      nested: { author: "no" },
    };
    expect(learnableInputs(inputs)).toEqual({ audience: "developers", title: "é".repeat(200) });
  });

  test("never split a character", () => {
    expect(learnableInputs({ title: "🦆".repeat(300) })).toEqual({ title: "🦆".repeat(200) });
    expect(learnableInputs({ title: "\ud83e" })).toEqual({ title: "\ufffd" });
  });

  test.each([undefined, null, "audience", 7, [], {}, { audience: "" }])("are undefined for %j", (inputs) => {
    expect(learnableInputs(inputs)).toBeUndefined();
  });

  test("for any input are short texts under known names", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything(), fc.object({ key: fc.constantFrom(...LEARNABLE_FIELDS, "password") })),
        (inputs) => {
          for (const [field, value] of Object.entries(learnableInputs(inputs) ?? {})) {
            expect(LEARNABLE_FIELDS).toContain(field);
            expect([...value].length).toBeLessThanOrEqual(200);
          }
        },
      ),
    );
  });
});

function entryAsStored(kind: "pack" | "pipeline" | "tool", row: unknown) {
  return auditEntry(alice, checkAuditRow(kind, row), NOW);
}
