/** Any answer of an embedding service gives valid vectors or one of our errors. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { isHelmdeckError } from "../../engine/errors.ts";
import type { SidecarEmbedder } from "../../sidecar/embedding-service.ts";
import { createOllamaEmbedder, createOllamaSidecar } from "../../sidecar/ollama.ts";
import { createOpenAiCompatibleEmbedder } from "../../sidecar/openai-compatible.ts";
import { FakeClock } from "./fake-clock.ts";

const TEXTS = ["one", "two"];

const number = fc.oneof(
  fc.double(),
  fc.constantFrom(0, -0, 1e308, -1e308, 5e-324, 1e-200),
  fc.constantFrom("RAW1e999", "RAW-1e999", null, "0.1", [], {}, true),
);
const vector = fc.oneof(
  fc.array(number, { maxLength: 4 }),
  fc.tuple(fc.double({ noNaN: true, min: -1, max: 1 }), fc.double({ noNaN: true, min: -1, max: 1 })),
  fc.anything(),
);
const vectors = fc.oneof(fc.array(vector, { maxLength: 4 }), fc.tuple(vector, vector), fc.anything());
const ollamaAnswer = fc.oneof(fc.record({ embeddings: vectors }), fc.anything());
const openAiItem = fc.record({ index: fc.constantFrom(0, 1, 2, -1, 0.5, null), embedding: vector });
const openAiAnswer = fc.oneof(
  fc.record({ data: fc.array(openAiItem, { maxLength: 3 }) }),
  fc.record({
    data: fc.tuple(vector, vector).map((pair) => pair.map((embedding, index) => ({ index, embedding }))),
  }),
  fc.anything(),
);
const status = fc.constantFrom(200, 200, 200, 201, 204, 302, 400, 404, 413, 418, 500, 503);
const contentType = fc.constantFrom("application/json", "text/html", "application/x-ndjson", "");

const answers = (body: fc.Arbitrary<unknown>) => fc.record({ body, status, contentType });

async function check(embedder: SidecarEmbedder): Promise<void> {
  try {
    const { vectors: kept } = await embedder.embedDocuments(TEXTS);
    expect(kept).toHaveLength(TEXTS.length);
    for (const one of kept) {
      expect(one.length).toBe(kept[0]?.length);
      expect(one.every(Number.isFinite)).toBe(true);
      expect(Math.hypot(...one)).toBeCloseTo(1, 4);
    }
  } catch (error) {
    if (!isHelmdeckError(error)) throw error;
    expect(["embeddings_unavailable", "dimension_mismatch", "model_missing", "rate_limited"]).toContain(
      error.code,
    );
  }
}

function fetchOf({ body, status: code, contentType: type }: typeof TINY): typeof fetch {
  return async () => {
    const text = (JSON.stringify(body) ?? "undefined").replaceAll(/"RAW(-?1e999)"/g, "$1");
    return new Response(code === 204 ? null : text, { status: code, headers: { "content-type": type } });
  };
}

/** A rare random case: the squares are so small that their root is not the vector's length. */
const TINY = {
  body: JSON.parse('{"embeddings": [[0, -1.6e-162], [-1.6e-162, 0]]}') as unknown,
  ...{ status: 200, contentType: "application/json" },
};

const parts = () => ({ clock: new FakeClock(), random: () => 0 });

// verifies P-quiet-sidecar
it("holds for any answer at Ollama's address", async () => {
  await fc.assert(
    fc.asyncProperty(answers(ollamaAnswer), async (answer) => {
      const sidecar = createOllamaSidecar({ address: "http://stand-in.test", fetch: fetchOf(answer) });
      await check(createOllamaEmbedder(sidecar, { model: "nomic-embed-text" }, parts()));
    }),
    { numRuns: 1_000, examples: [[TINY]] },
  );
});

it("holds for any answer of an OpenAI-compatible endpoint", async () => {
  await fc.assert(
    fc.asyncProperty(answers(openAiAnswer), async (answer) => {
      const settings = { address: "http://stand-in.test/v1", model: "m", fetch: fetchOf(answer) };
      await check(createOpenAiCompatibleEmbedder(settings, parts()));
    }),
    { numRuns: 1_000 },
  );
});
