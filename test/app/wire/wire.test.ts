/** Every use case's answer matches the published schema, field by field. */
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  callersReply,
  callersReplySchema,
  corpusReply,
  corpusReplySchema,
  corpusRequestSchema,
  defaultsReplySchema,
  errorReply,
  errorReplySchema,
  factReply,
  factSchema,
  factsReply,
  factsReplySchema,
  forgetOfRequest,
  forgetReply,
  forgetReplySchema,
  forgetRequestSchema,
  HelmdeckError,
  myMemoryReply,
  myMemoryReplySchema,
  storeReply,
  storeReplySchema,
  storeRequestSchema,
} from "../../../app/index.ts";
import {
  packRunReply,
  packRunReplySchema,
  pipelineRunReply,
  pipelineRunReplySchema,
} from "../../../packs/index.ts";
import { NOW, openTestMemory } from "../fixtures/memories.ts";

/** Fails if the reply lacks a field of the schema, or has an unknown one. */
function fits(schema: z.ZodType, reply: unknown): void {
  expect(schema.parse(reply)).toEqual(reply);
  expect(JSON.parse(JSON.stringify(reply))).toEqual(reply);
}

describe("a reply", () => {
  it("of every use case matches its schema", async () => {
    const memory = await openTestMemory();
    const fact = { key: "a/b", value: "Kept.", tags: ["x"] };
    fits(storeReplySchema, storeReply(await memory.storeFact("ana", fact)));
    fits(storeReplySchema, storeReply(await memory.storeFact("ana", fact)));
    await memory.recordPackRun("ana", {
      pack: "some.pack",
      outcome: "ok",
      at_unix: NOW / 1_000,
      duration_ms: 5,
      learn_inputs: { theme: "dark" },
      findings: [{ code: "c", severity: "low" }],
    });
    await memory.recordPipelineRun("ana", {
      pipeline: "p",
      run_id: "r",
      outcome: "succeeded",
      at_unix: NOW / 1_000,
    });
    const found = await memory.getFact("ana", "a/b");
    if (found === undefined) throw new Error("the fact is not there");
    fits(factSchema, factReply(found));
    fits(factsReplySchema, factsReply(await memory.listFacts("ana", { limit: 1 })));
    fits(myMemoryReplySchema, myMemoryReply(await memory.myMemory("ana")));
    fits(defaultsReplySchema, await memory.defaults("ana"));
    fits(callersReplySchema, callersReply(await memory.callers()));
    fits(corpusReplySchema, corpusReply(await memory.corpusPage("ana", { limit: 1 })));
    fits(corpusReplySchema, corpusReply(await memory.corpusPage("ana", { query: "kept" })));
    fits(forgetReplySchema, forgetReply(await memory.forget("ana", { scope: "everything" })));
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
  it("with an unknown field is refused: a misspelt dry_run would delete", () => {
    expect(forgetRequestSchema.safeParse({ scope: "all", dryRun: true }).success).toBe(false);
    expect(storeRequestSchema.safeParse({ key: "k", value: "v", ttl: 1 }).success).toBe(false);
    expect(corpusRequestSchema.safeParse({ q: "x" }).success).toBe(false);
  });

  it("to forget is a dry run only if dry_run is true", () => {
    expect(forgetOfRequest({ scope: "all", dry_run: null })).toEqual({ scope: "all", dryRun: false });
    expect(forgetOfRequest({ scope: "all", dry_run: true })).toEqual({ scope: "all", dryRun: true });
  });

  it.each([storeRequestSchema, forgetRequestSchema, corpusRequestSchema])(
    "describes every field for a model (%#)",
    (schema) => {
      const { properties = {} } = z.toJSONSchema(schema, { io: "input" });
      for (const field of Object.values(properties)) expect(field).toHaveProperty("description");
    },
  );
});
