/** Every use case's answer matches the published schema, field by field. */
import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { OpenMemory } from "../../../app/compose.ts";
import type { UseCase } from "../../../app/memory.ts";
import { OPERATIONS, perform } from "../../../app/operations/index.ts";
import { fromWire, toWire } from "../../../app/wire/codec.ts";
import { errorReply } from "../../../app/wire/error-reply.ts";
import { errorReplySchema } from "../../../app/wire/schemas.ts";
import { HelmdeckError } from "../../../engine/errors.ts";
import {
  packRunReply,
  packRunReplySchema,
  pipelineRunReply,
  pipelineRunReplySchema,
} from "../../../packs/wire.ts";
import { NOW, openTestMemory } from "../fixtures/memories.ts";

/** Fails if the reply lacks a field of the schema, or has an unknown one. */
function fits(schema: z.ZodType, reply: unknown): void {
  expect(schema.parse(reply)).toEqual(reply);
  expect(JSON.parse(JSON.stringify(reply))).toEqual(reply);
}

const KEY = { key: "a/b" };
const FACT = { ...KEY, value: "Kept.", tags: ["x"], ttlSeconds: 86_400 };

/** Where there is one. */
const INPUTS: Partial<Record<UseCase, readonly unknown[]>> = {
  storeFact: [FACT, { ...FACT, key: "c", supersedes: ["a/b"] }],
  storeFacts: [{ facts: [FACT, { ...FACT, key: "d", supersedes: ["a/b"] }, { ...KEY, value: "" }] }],
  forget: [{ scope: "key:a/c" }, { scope: "everything", dryRun: true }, { scope: "everything" }],
  listFacts: [{ limit: 1 }],
  getFact: [KEY],
  factHistory: [KEY],
  undoFact: [KEY],
  renewFact: [KEY],
  renewFacts: [{ which: "all", dryRun: true }, { which: "all" }, { which: "undo" }],
  pinFact: [KEY],
  review: [{ limit: 1 }, { limit: 1, cursor: "2" }],
  keepApart: [{ keys: ["a/b", "copy"] }, { keys: ["a/b", "copy"], apart: false, upTo: 1 }],
  corpusPage: [{ limit: 1 }, { query: "kept" }, { query: "zebra" }],
  search: [{ query: "kept", explain: true }, { query: "zebra" }],
  readDocument: [{ path: "helmdeck/user_facts/a/b.md" }, { path: "helmdeck/my-memory.md" }],
  listRuns: [{}],
  exportPage: [{}],
};

async function fill(memory: OpenMemory): Promise<void> {
  await memory.storeFact("ana", { ...KEY, value: "Before." });
  await memory.storeFact("ana", FACT, { surface: "cli", agent: "ana", sessionKind: "direct" });
  await memory.storeFact("ana", { ...FACT, key: "copy" });
  const at_unix = NOW / 1_000;
  await memory.recordPackRun("ana", {
    ...{ pack: "some.pack", outcome: "ok", at_unix, duration_ms: 5 },
    learn_inputs: { darkTheme: "yes" },
    findings: [{ code: "c", severity: "low" }],
  });
  await memory.recordPipelineRun("ana", { pipeline: "p", run_id: "r", outcome: "succeeded", at_unix });
}

describe("a reply", () => {
  it.each(OPERATIONS)("of $name matches its schema", async (operation) => {
    const memory = await openTestMemory();
    await fill(memory);
    for (const input of INPUTS[operation.name] ?? [undefined])
      fits(operation.reply, await perform(operation, memory, "ana", toWire(input), { surface: "rest" }));
  });

  it("of a pack's run matches its schema, with unrounded milliseconds (helmdeck's fault 16)", () => {
    const artifact = { id: "art_1", name: "n", mediaType: "text/plain", sizeBytes: 1, sha256: "00" };
    const run = { pack: "p", version: "1.0.0", output: { any: ["thing"] }, durationMs: 12, cached: false };
    const reply = packRunReply({ ...run, artifacts: [artifact], sessionId: "ses_1" });
    fits(packRunReplySchema, reply);
    expect(reply).toMatchObject({
      duration_ms: 12,
      artifacts: [{ media_type: "text/plain", size_bytes: 1 }],
    });
    expect(packRunReply({ ...run, artifacts: [] })).not.toHaveProperty("artifacts");
  });

  it("of a pipeline's run matches its schema in every state", () => {
    const run = { runId: "r", pipeline: "p", state: "running", startedAt: NOW, steps: [] } as const;
    const error = { code: "pack_failed", message: "m" };
    const step = { id: "s", pack: "x", state: "failed", durationMs: 3, error } as const;
    fits(pipelineRunReplySchema, pipelineRunReply(run));
    fits(
      pipelineRunReplySchema,
      pipelineRunReply({ ...run, state: "failed", durationMs: 9, steps: [step], error }),
    );
    fits(pipelineRunReplySchema, pipelineRunReply({ ...run, state: "succeeded", output: { a: 1 } }));
  });

  it("to a failure is helmdeck's envelope", () => {
    const bare = errorReply(new HelmdeckError("not_found", "Not there."));
    expect(bare).toEqual({ error: "not_found", message: "Not there." });
    fits(
      errorReplySchema,
      errorReply(new HelmdeckError("invalid_input", "No.", { details: { field: "key" } })),
    );
  });
});

describe("a request", () => {
  const inputs = OPERATIONS.flatMap(({ name, input, tool, effects: { readOnly } }) =>
    [input, tool?.input].flatMap((schema) => (schema === undefined ? [] : [{ name, schema, readOnly }])),
  );
  const changing = inputs.filter(({ readOnly }) => !readOnly);

  it.each(changing)("of $name refuses an unknown field: a misspelt dry_run would delete", ({ schema }) => {
    const { error } = schema.safeParse({ dryRun: true });
    expect(error?.issues).toContainEqual(
      expect.objectContaining({ code: "unrecognized_keys", keys: ["dryRun"] }),
    );
  });

  it.each(inputs)("of $name describes every field for a model", ({ schema }) => {
    const { properties = {} } = z.toJSONSchema(schema, { io: "input" });
    for (const field of Object.values(properties)) expect(field).toHaveProperty("description");
  });
});

describe("between values and JSON", () => {
  const value = {
    ...{ sameAs: ["K"], expiresAt: NOW, until: NOW },
    replaced: { updatedAt: NOW },
    ...{ inputs: { darkTheme: "yes" }, metadata: { possible: true } },
  };
  const json = {
    ...{ same_as: ["K"], expires_at: new Date(NOW).toISOString(), until: new Date(NOW).toISOString() },
    replaced: { updated_at: new Date(NOW).toISOString() },
    ...{ inputs: { darkTheme: "yes" }, metadata: { possible: true } },
  };

  it("names and times change, and the names of a run's inputs do not", () => {
    expect(toWire(value)).toEqual(json);
    const { until: _, ...reply } = json;
    const { until: __, ...answer } = value;
    expect(fromWire(reply)).toEqual(answer);
  });

  it("what is absent or null is absent", () => {
    expect(toWire({ upTo: undefined, limit: 0 })).toEqual({ limit: 0 });
    expect(fromWire({ dry_run: null, limit: 0 })).toEqual({ limit: 0 });
  });

  it("a time beyond the calendar is its first or last one", () => {
    expect(toWire({ until: -1 })).toEqual({ until: "1970-01-01T00:00:00.000Z" });
    expect(toWire({ until: Number.MAX_SAFE_INTEGER })).toEqual({ until: "9999-12-31T00:00:00.000Z" });
  });
});
