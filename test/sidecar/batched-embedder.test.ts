/** The embedder with a test service: each vector belongs to its text, even if texts are truncated or split or requests fail. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { HelmdeckError } from "../../engine/errors.ts";
import { createBatchedEmbedder, type EmbeddingService } from "../../sidecar/batched-embedder.ts";
import { FakeClock } from "./fake-clock.ts";

/** Accepts texts up to a number of characters; a text's vector consists of its characters. */
class LetterService implements EmbeddingService {
  readonly who = "The letter service";
  readonly model = "letters";
  readonly requests: (readonly string[])[] = [];
  readonly #longest: number;
  readonly #failures: boolean[];
  readonly #failed = new Map<string, number>();
  underWay = 0;
  mostUnderWay = 0;

  constructor(longest: number, failures: readonly boolean[]) {
    this.#longest = longest;
    this.#failures = [...failures];
  }

  async send(texts: readonly string[]): Promise<readonly Float32Array[]> {
    this.requests.push(texts);
    this.mostUnderWay = Math.max(this.mostUnderWay, ++this.underWay);
    await Promise.resolve();
    this.underWay--;
    if (texts.some((text) => text.length > this.#longest)) throw new HelmdeckError("too_large", "Too long.");
    if (this.#isBusyFor(texts.join("\n")))
      throw new HelmdeckError("embeddings_unavailable", "Busy.", { details: { passing: true } });
    return texts.map((text) => Float32Array.from({ length: 64 }, (_, at) => text.charCodeAt(at) || 0));
  }

  /** Fails at most twice for the same texts, because the third failure would be permanent. */
  #isBusyFor(request: string): boolean {
    const failed = this.#failed.get(request) ?? 0;
    const isBusy = this.#failures.shift() === true && failed < 2;
    if (isBusy) this.#failed.set(request, failed + 1);
    return isBusy;
  }
}

function lettersOf(vector: Float32Array | undefined): string {
  return String.fromCharCode(...(vector ?? []).filter((code) => code !== 0));
}

const text = fc.string({
  unit: fc.constantFrom("a", "b", "ü", "語", "👋", "\ud800"),
  minLength: 1,
  maxLength: 30,
});
const runs = fc.record({
  texts: fc.array(text, { maxLength: 40 }),
  longest: fc.integer({ min: 4, max: 40 }),
  maxBatchTexts: fc.integer({ min: 1, max: 9 }),
  maxBatchBytes: fc.integer({ min: 1, max: 200 }),
  maxTextBytes: fc.integer({ min: 8, max: 200 }),
  concurrency: fc.integer({ min: 1, max: 4 }),
  // Never two failures in a row, so that the circuit stays closed.
  failures: fc
    .array(fc.boolean(), { maxLength: 20 })
    .map((all) => all.map((fails, at) => fails && at % 2 === 0)),
});

it.each([
  ["a service opens the circuit", {}, "open"],
  ["a local model does not", { isLocal: true }, "closed"],
] as const)("a late answer of %s", async (_, own, circuit) => {
  const clock = new FakeClock();
  const late = new HelmdeckError("deadline_exceeded", "Late.");
  const service = { who: "It", model: "late", send: () => Promise.reject(late), ...own };
  const limits = { concurrency: 1, requestTimeoutMs: 1_000 };
  const embedder = createBatchedEmbedder(service, { model: "late" }, limits, { clock, random: () => 0 });
  for (let asked = 0; asked < 5; asked += 1) await expect(embedder.embedQuery("where")).rejects.toBe(late);
  expect(embedder.state()).toMatchObject({ circuit });
});

it("keeps the order, the limits and every text, and reports exactly what was truncated", async () => {
  await fc.assert(
    fc.asyncProperty(runs, async ({ texts, longest, failures, ...limits }) => {
      const service = new LetterService(longest, limits.concurrency === 1 ? failures : []);
      const prefixes = { query: "?", document: ">" };
      const settings = { model: service.model, prefixes, ...limits };
      const parts = { clock: new FakeClock(), random: () => 0 };
      const embedder = createBatchedEmbedder(
        service,
        settings,
        { concurrency: 1, requestTimeoutMs: 1_000 },
        parts,
      );
      const { vectors, truncated } = await embedder.embedDocuments(texts);

      expect(vectors).toHaveLength(texts.length);
      const used = new Map(truncated.map(({ index, usedLength }) => [index, usedLength]));
      texts.forEach((whole, index) => {
        expect(lettersOf(vectors[index])).toBe(`>${whole.toWellFormed().slice(0, used.get(index))}`);
        expect(used.get(index) ?? 0).toBeLessThan(whole.length);
      });
      for (const request of service.requests) {
        const bytes = Buffer.byteLength(request.join(""));
        expect(request.length).toBeLessThanOrEqual(limits.maxBatchTexts);
        expect(request.length === 1 || bytes <= limits.maxBatchBytes).toBe(true);
        for (const sent of request) {
          expect(Buffer.byteLength(sent)).toBeLessThanOrEqual(limits.maxTextBytes);
          expect(sent.isWellFormed()).toBe(true);
        }
      }
      expect(service.mostUnderWay).toBeLessThanOrEqual(limits.concurrency);
    }),
    { numRuns: 500 },
  );
});
