/** The Ollama client without embedding: health, models and their tags, downloads. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { PullProgress } from "../../sidecar/embedding-service.ts";
import { isSameOllamaModel, ollamaName } from "../../sidecar/models.ts";
import { failureOf, MODEL, type Rig, startRig } from "./rig.ts";
import { STAND_IN_VERSION } from "./stand-in-ollama.ts";

let rig: Rig;

beforeEach(async () => {
  rig = await startRig({ models: [] });
});
afterEach(() => rig.close());

describe("health", () => {
  it("is the version of a server that answers", async () => {
    expect(await rig.sidecar.health()).toEqual({ ok: true, version: STAND_IN_VERSION });
  });

  it("is a verdict, never an exception, without an answer", async () => {
    rig.standIn.setFault({ kind: "hang", times: 1 });
    const health = rig.sidecar.health();
    await rig.standIn.seen(1);
    rig.clock.advance(2_000);
    expect(await health).toMatchObject({ ok: false, code: "deadline_exceeded" });
    rig.standIn.setFault({ kind: "html" });
    expect(await rig.sidecar.health()).toMatchObject({ ok: false, code: "embeddings_unavailable" });
    await rig.standIn.close();
    expect(await rig.sidecar.health()).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/refuses connections/),
    });
  });
});

describe("models", () => {
  it("are present under exactly their tag, and no tag means latest", async () => {
    await rig.sidecar.pull(MODEL, () => {});
    expect(await rig.sidecar.hasModel(MODEL)).toBe(true);
    expect(await rig.sidecar.hasModel(`${MODEL}:latest`)).toBe(true);
    expect(await rig.sidecar.hasModel(`${MODEL}:v1.5`)).toBe(false);
    expect(await rig.sidecar.hasModel("all-minilm")).toBe(false);
    expect(await rig.sidecar.models()).toEqual([`${MODEL}:latest`]);
  });

  it("are loaded by warming, without embedding anything", async () => {
    await rig.sidecar.pull(MODEL, () => {});
    expect(rig.standIn.loaded()).toEqual([]);
    await rig.sidecar.warm(MODEL);
    expect(rig.standIn.loaded()).toEqual([`${MODEL}:latest`]);
    expect((await failureOf(rig.sidecar.warm("all-minilm"))).code).toBe("model_missing");
  });

  it.each(["", "two words", "a\nb", "x".repeat(201), "modèle", "../../etc;rm"])(
    "named %j are refused before anything is sent",
    async (name) => {
      const hasModel = async () => rig.sidecar.hasModel(name);
      expect(await failureOf(hasModel())).toMatchObject({
        code: "invalid_input",
        details: { field: "model" },
      });
      expect(rig.standIn.requests).toEqual([]);
    },
  );

  it.each([
    ["nomic-embed-text", "nomic-embed-text:latest"],
    ["nomic-embed-text:v1.5", "nomic-embed-text:v1.5"],
    ["library/nomic-embed-text", "nomic-embed-text:latest"],
    ["registry.ollama.ai/library/nomic-embed-text:v1.5", "nomic-embed-text:v1.5"],
    ["hf.co/nomic-ai/nomic-embed-text-v1.5-GGUF", "hf.co/nomic-ai/nomic-embed-text-v1.5-GGUF:latest"],
    ["localhost:5000/team/model", "localhost:5000/team/model:latest"],
  ])("named %s are listed as %s", (given, listed) => {
    expect(ollamaName(given)).toBe(listed);
    expect(isSameOllamaModel(given.toUpperCase(), listed)).toBe(true);
  });
});

describe("one request for embeddings", () => {
  beforeEach(() => rig.sidecar.pull(MODEL, () => {}));

  it("returns the model's unit vectors, without prefixes", async () => {
    const vectors = await rig.sidecar.embed({ model: MODEL, texts: ["one", "two"] });
    expect(vectors.map((vector) => vector.length)).toEqual([768, 768]);
    expect(rig.standIn.requests.at(-1)?.body).toMatchObject({ input: ["one", "two"] });
  });

  it("refuses vectors of several lengths, or of another than requested", async () => {
    const mismatch = { code: "dimension_mismatch", details: { expected: 768, got: 767 } };
    rig.standIn.setFault({ kind: "mixed_dimensions" });
    expect(await failureOf(rig.sidecar.embed({ model: MODEL, texts: ["one", "two"] }))).toMatchObject(
      mismatch,
    );
    rig.standIn.setFault({ kind: "wrong_dimensions" });
    const request = { model: MODEL, texts: ["one"], dimensions: 768 };
    expect(await failureOf(rig.sidecar.embed(request))).toMatchObject(mismatch);
  });

  it("reports that a text is too long, and truncates nothing silently", async () => {
    const error = await failureOf(rig.sidecar.embed({ model: MODEL, texts: ["{};".repeat(3_000)] }));
    expect(error.code).toBe("too_large");
  });
});

describe("a download", () => {
  it("reports its progress in bytes, and ends when the model is complete", async () => {
    const lines: PullProgress[] = [];
    await rig.sidecar.pull(MODEL, (progress) => lines.push(progress));
    const shares = lines.flatMap(({ completedBytes: done, totalBytes: all }) =>
      done === undefined || all === undefined ? [] : [done / all],
    );
    expect(shares).toEqual([...shares].sort((one, other) => one - other));
    expect(shares.at(-1)).toBe(1);
    expect(lines[0]?.status).toBe("pulling manifest");
    expect(lines.at(-1)?.status).toBe("success");
    expect(await rig.sidecar.hasModel(MODEL)).toBe(true);
  });

  it("of an unknown model reports that", async () => {
    const error = await failureOf(rig.sidecar.pull("no-such-model", () => {}));
    expect(error).toMatchObject({ code: "model_missing", details: { model: "no-such-model:latest" } });
  });

  it("that was interrupted reports that, and the next one finishes it", async () => {
    rig.standIn.setFault({ kind: "cut_stream", times: 1 });
    const lines: PullProgress[] = [];
    const error = await failureOf(rig.sidecar.pull(MODEL, (progress) => lines.push(progress)));
    expect(error.code).toBe("embeddings_unavailable");
    expect(lines.length).toBeGreaterThan(1);
    expect(await rig.sidecar.hasModel(MODEL)).toBe(false);
    await rig.sidecar.pull(MODEL, () => {});
    expect(await rig.sidecar.hasModel(MODEL)).toBe(true);
  });

  it.each([
    ["write /root/.ollama/models/blobs/x: no space left on device", /its disk is full/],
    [
      'pull model manifest: Get "https://registry.ollama.ai": dial tcp: lookup registry.ollama.ai: no such host',
      /cannot reach the registry/,
    ],
    ["open /root/.ollama: read-only file system", /cannot write to its models folder/],
    ["something canary else", /the reason is in its log/],
  ])("that fails with %j on the way gives the reason in our words", async (error, message) => {
    rig.standIn.setFault({ kind: "status", error });
    expect((await failureOf(rig.sidecar.pull(MODEL, () => {}))).message).toMatch(message);
  });

  it("may take as long as it makes progress, and is abandoned after a minute without a message", async () => {
    rig.standIn.setFault({ kind: "silent_stream" });
    const arrived = Promise.withResolvers<void>();
    const pull = failureOf(
      rig.sidecar.pull(MODEL, ({ completedBytes: done = 0, totalBytes: all = 1 }) => {
        if (done / all > 0.7) arrived.resolve();
      }),
    );
    await rig.standIn.seen(1);
    await arrived.promise;
    rig.clock.advance(59_999);
    expect(rig.clock.pending).toEqual([1]);
    rig.clock.advance(1);
    expect(await pull).toMatchObject({ code: "deadline_exceeded", details: { model: `${MODEL}:latest` } });
  });

  it("can be aborted", async () => {
    rig.standIn.setFault({ kind: "silent_stream" });
    const controller = new AbortController();
    const pull = failureOf(rig.sidecar.pull(MODEL, () => controller.abort(), { signal: controller.signal }));
    expect((await pull).code).toBe("cancelled");
  });

  it.each(["html", "not_json", "endless", "redirect", "reset"] as const)(
    "that is answered with %s fails",
    async (kind) => {
      rig.standIn.setFault({ kind });
      expect((await failureOf(rig.sidecar.pull(MODEL, () => {}))).code).toBe("embeddings_unavailable");
    },
  );
});
