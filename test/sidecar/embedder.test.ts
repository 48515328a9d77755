/** Both embedders against the stand-in: requests, results, and long texts. */
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import type { Embedder } from "../../recall/embedder.ts";
import type { SidecarEmbedder } from "../../sidecar/embedding-service.ts";
import { createOllamaSidecar } from "../../sidecar/ollama.ts";
import { mayBeTruncated } from "../../sidecar/openai-compatible.ts";
import { cosine, failureOf, inputsOf, KINDS, MODEL, type Rig, startRig } from "./rig.ts";

let rig: Rig;

beforeEach(async () => {
  rig = await startRig({ models: ["nomic-embed-text", "all-minilm", "mxbai-embed-large"] });
});
afterEach(() => rig.close());

/** Each character is a token, so 8 KB are far more than the model's context. */
const DENSE = "{}[]();:".repeat(1_000);

it("matches recall's interface", () => {
  expectTypeOf<SidecarEmbedder>().toExtend<Embedder>();
});

describe.each(KINDS)("the embedder of kind %s", (kind) => {
  it("finds a fact by a question that shares no word with it", async () => {
    const embedder = rig.embedder(kind);
    const facts = ["I always deploy via Konflux", "My dog is called Rex", "We drink espresso after lunch"];
    const { vectors } = await embedder.embedDocuments(facts);
    const question = await embedder.embedQuery("how do we ship to production");
    const [best, ...others] = vectors.map((vector) => cosine(vector, question));
    expect(best).toBeGreaterThan(0.5);
    for (const other of others) expect(other).toBeLessThan(0.2);
  });

  it("returns unit vectors in the order of the texts, over many batches", async () => {
    const texts = Array.from({ length: 50 }, (_, at) => `fact number ${at}`);
    const { vectors, truncated } = await rig.embedder(kind, { concurrency: 4 }).embedDocuments(texts);
    expect(inputsOf(rig).map((input) => input.length)).toEqual([16, 16, 16, 2]);
    expect(truncated).toEqual([]);
    const alone = rig.embedder(kind);
    for (const at of [0, 15, 16, 17, 48, 49]) {
      const { vectors: single } = await alone.embedDocuments([texts[at] ?? ""]);
      expect(cosine(vectors[at], single[0])).toBeCloseTo(1, 5);
      expect(cosine(vectors[at], vectors[at])).toBeCloseTo(1, 5);
    }
  });

  it("keeps batches within their limits in bytes, prefixes included", async () => {
    const texts = Array.from({ length: 10 }, () => "x".repeat(100));
    await rig.embedder(kind, { maxBatchBytes: 250 }).embedDocuments(texts);
    expect(inputsOf(rig).map((input) => input.length)).toEqual([2, 2, 2, 2, 2]);
  });

  it("sends nothing for no texts", async () => {
    expect(await rig.embedder(kind).embedDocuments([])).toEqual({ vectors: [], truncated: [] });
    expect(rig.standIn.requests).toEqual([]);
  });

  it("refuses an empty text before anything is sent", async () => {
    const error = await failureOf(rig.embedder(kind).embedDocuments(["fine", " \n"]));
    expect(error).toMatchObject({ code: "invalid_input", details: { index: 1 } });
    expect(rig.standIn.requests).toEqual([]);
  });

  it.each([
    // Ollama does not add them by itself.
    ["nomic-embed-text", "search_query: a question", "search_document: a fact"],
    ["all-minilm", "a question", "a fact"],
    ["mxbai-embed-large", "Represent this sentence for searching relevant passages: a question", "a fact"],
  ])("sends the prefixes of %s's model card", async (model, query, document) => {
    const embedder = rig.embedder(kind, { model });
    await embedder.embedQuery("a question");
    await embedder.embedDocuments(["a fact"]);
    expect(inputsOf(rig)).toEqual([[query], [document]]);
  });

  it("sends the configured prefixes instead, and separates their vectors", async () => {
    const own = rig.embedder(kind, { prefixes: { query: "q: ", document: "d: " } });
    await own.embedQuery("a question");
    expect(inputsOf(rig)).toEqual([["q: a question"]]);
    expect(own.space).not.toBe(rig.embedder(kind).space);
  });

  it("learns the dimensions from the first answer", async () => {
    const embedder = rig.embedder(kind);
    expect(embedder.dimensions).toBeUndefined();
    await embedder.embedQuery("a question");
    expect(embedder.dimensions).toBe(768);
  });

  it("requests shorter vectors when configured, and separates them", async () => {
    const short = rig.embedder(kind, { dimensions: 256 });
    expect((await short.embedQuery("a question")).length).toBe(256);
    expect(rig.standIn.requests.at(-1)?.body).toMatchObject({ dimensions: 256 });
    expect(short.space).not.toBe(rig.embedder(kind).space);
  });

  it("an oversized text fails no batch: it is truncated and reported, and the others are complete", async () => {
    const texts = ["our dog is Rex", DENSE, "espresso after lunch", "flight to Lisbon"];
    const embedder = rig.embedder(kind);
    const { vectors, truncated } = await embedder.embedDocuments(texts);
    expect(truncated.map(({ index }) => index)).toEqual([1]);
    const used = truncated[0]?.usedLength ?? 0;
    expect(used).toBeGreaterThan(500);
    expect(used).toBeLessThanOrEqual(2_048);
    expect(inputsOf(rig).flat()).toContain(`search_document: ${DENSE.slice(0, used)}`);
    const { vectors: alone } = await embedder.embedDocuments(texts.filter((text) => text !== DENSE));
    for (const [at, other] of [0, 2, 3].entries())
      expect(cosine(vectors[other], alone[at])).toBeCloseTo(1, 5);
    expect(vectors).toHaveLength(4);
  });

  it("truncates a long text before it is sent, and reports how much of it counts", async () => {
    const long = "word ".repeat(4_000);
    const { truncated } = await rig.embedder(kind, { maxTextBytes: 1_017 }).embedDocuments(["short", long]);
    expect(truncated).toEqual([{ index: 1, usedLength: 1_000 }]);
    expect(inputsOf(rig)).toHaveLength(1);
  });

  it("answers a question while documents are being sent", async () => {
    rig.standIn.setFault({ kind: "hang", times: 1 });
    const embedder = rig.embedder(kind, { concurrency: 1 });
    const documents = failureOf(embedder.embedDocuments(["one", "two"]));
    await rig.standIn.seen(1);
    await embedder.embedQuery("a question");
    embedder.close();
    expect((await documents).code).toBe("cancelled");
  });

  it("limits the concurrent requests with documents", async () => {
    rig.standIn.setFault({ kind: "hang" });
    const embedder = rig.embedder(kind, { concurrency: 2, maxBatchTexts: 1 });
    const documents = failureOf(embedder.embedDocuments(["one", "two", "three", "four"]));
    await rig.standIn.seen(2);
    rig.standIn.setFault(undefined);
    await rig.sidecar.version();
    expect(inputsOf(rig)).toHaveLength(2);
    embedder.close();
    await documents;
  });

  it("can be aborted by the caller, also while it waits for its turn", async () => {
    rig.standIn.setFault({ kind: "hang" });
    const embedder = rig.embedder(kind, { concurrency: 1, maxBatchTexts: 1 });
    const controller = new AbortController();
    const { signal } = controller;
    const documents = failureOf(embedder.embedDocuments(["one", "two"], { signal }));
    await rig.standIn.seen(1);
    controller.abort();
    expect((await documents).code).toBe("cancelled");
    expect((await failureOf(embedder.embedQuery("a question", { signal }))).code).toBe("cancelled");
    rig.standIn.setFault(undefined);
    await embedder.embedDocuments(["three"]);
    expect(inputsOf(rig)).toEqual([["search_document: one"], ["search_document: three"]]);
  });

  it("rejects with cancelled after it was closed", async () => {
    const embedder = rig.embedder(kind);
    embedder.close();
    expect((await failureOf(embedder.embedQuery("a question"))).code).toBe("cancelled");
  });

  it.each([
    "dimensions",
    "concurrency",
    "maxBatchTexts",
    "maxBatchBytes",
    "maxTextBytes",
    "requestTimeoutMs",
  ])("refuses a %s that is not a positive whole number", async (field) => {
    for (const value of [0, -1, 1.5, Number.NaN]) {
      const make = async () => rig.embedder(kind, { [field]: value });
      expect(await failureOf(make())).toMatchObject({ code: "invalid_input", details: { field } });
    }
  });
});

it("sorts OpenAI's vectors in the order of the texts, whatever their order", async () => {
  rig.standIn.setFault({ kind: "reversed" });
  const embedder = rig.openAi();
  const { vectors } = await embedder.embedDocuments(["our dog is Rex", "espresso after lunch"]);
  rig.standIn.setFault(undefined);
  const { vectors: expected } = await embedder.embedDocuments(["our dog is Rex", "espresso after lunch"]);
  expect(vectors).toEqual(expected);
});

it("asks Ollama not to truncate, and does not set how long a model stays loaded", async () => {
  await rig.ollama().embedQuery("a question");
  await rig.sidecar.warm(MODEL);
  expect(rig.standIn.requests.map(({ body }) => body)).toEqual([
    { model: "nomic-embed-text:latest", input: ["search_query: a question"], truncate: false },
    { model: "nomic-embed-text:latest", input: [], truncate: false },
  ]);
});

it("tells Ollama how long to keep a model if that is configured", async () => {
  const sidecar = createOllamaSidecar({ address: rig.standIn.address, keepAlive: "1h" }, rig.clock.timer);
  await sidecar.warm(MODEL);
  expect(rig.standIn.requests[0]?.body).toMatchObject({ keep_alive: "1h" });
});

describe("an OpenAI-compatible service that truncates long texts silently, as Ollama's does", () => {
  const short = ["our dog is Rex", "espresso after lunch"];

  it("is detected by its token counts: truncated texts are reported, and no others", async () => {
    const long = "word ".repeat(300);
    const embedder = rig.openAi({ model: "all-minilm", maxTextBytes: 8_192 });
    const { vectors, truncated } = await embedder.embedDocuments([...short, long]);
    expect(vectors).toHaveLength(3);
    expect(truncated).toEqual([{ index: 2, usedLength: 750 }]);
    expect(inputsOf(rig).flat()).toContain(long.slice(0, 750));
  });

  it("is called once when no text is long enough to be truncated", async () => {
    const embedder = rig.openAi({ model: "all-minilm" });
    await embedder.embedDocuments(Array.from({ length: 16 }, (_, at) => `${"word ".repeat(40)}${at}`));
    expect(inputsOf(rig)).toHaveLength(1);
  });

  it.each([
    ["one text, as many tokens as the model reads", [2_000], 512, true],
    ["the same with the two special tokens left out", [2_000], 510, true],
    ["one text, fewer tokens than that", [2_000], 509, false],
    ["more tokens than we thought the model reads", [2_000], 513, false],
    ["a text of fewer bytes than the model reads tokens", [500], 512, false],
    ["several texts, one of them long, all together as many tokens", [100, 2_000], 700, true],
    ["several texts, together fewer tokens", [100, 2_000], 400, false],
    ["several short texts", [400, 400], 700, false],
    ["no count at all", [2_000], undefined, false],
  ])("%s", (_, lengths, tokens, isSuspect) => {
    const texts = lengths.map((length) => "x".repeat(length));
    expect(mayBeTruncated(texts, tokens, 512)).toBe(isSuspect);
  });
});
