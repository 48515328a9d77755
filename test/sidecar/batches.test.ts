/** Batches of texts: no text is lost, order and limits are kept, no character is split. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isTruncated, itemFor, payloadOf, planBatches, shortened } from "../../sidecar/batches.ts";

const texts = fc.array(fc.string({ unit: "binary", maxLength: 40 }), { maxLength: 40 });
const limits = fc.record({
  maxTexts: fc.integer({ min: 1, max: 8 }),
  maxBytes: fc.integer({ min: 1, max: 120 }),
});
const PREFIX = "search_document: ";

describe("batches", () => {
  it("hold every text once, in order, within both limits", () => {
    fc.assert(
      fc.property(texts, limits, (all, limit) => {
        const items = all.map((text, index) => itemFor(index, PREFIX, text, 10_000));
        const batches = planBatches(items, limit);
        expect(batches.flat()).toEqual(items);
        for (const batch of batches) {
          const bytes = batch.reduce((sum, item) => sum + Buffer.byteLength(payloadOf(item)), 0);
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(limit.maxTexts);
          expect(batch.length === 1 || bytes <= limit.maxBytes).toBe(true);
        }
      }),
    );
  });

  it("are no more than needed: two neighbours never fit into one", () => {
    fc.assert(
      fc.property(texts, limits, (all, limit) => {
        const batches = planBatches(
          all.map((text, index) => itemFor(index, "", text, 10_000)),
          limit,
        );
        const bytesOf = (batch: (typeof batches)[number]) =>
          batch.reduce((sum, item) => sum + Buffer.byteLength(payloadOf(item)), 0);
        batches.slice(1).forEach((batch, at) => {
          const before = batches[at] ?? [];
          const fits =
            before.length < limit.maxTexts && bytesOf(before) + bytesOf(batch.slice(0, 1)) <= limit.maxBytes;
          expect(fits).toBe(false);
        });
      }),
    );
  });
});

describe("a text over the limit", () => {
  it("is truncated within the limit, prefix included, at a whole character, and reported", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 200 }),
        fc.integer({ min: 30, max: 300 }),
        (text, max) => {
          const item = itemFor(0, PREFIX, text, max);
          const sent = payloadOf(item);
          expect(Buffer.byteLength(sent)).toBeLessThanOrEqual(max);
          expect(sent.isWellFormed()).toBe(true);
          expect((PREFIX + text.toWellFormed()).startsWith(sent)).toBe(true);
          expect(isTruncated(item)).toBe(sent !== PREFIX + text.toWellFormed());
          const oneMore = String.fromCodePoint(item.text.codePointAt(item.usedLength) ?? 0);
          if (isTruncated(item)) expect(Buffer.byteLength(sent + oneMore)).toBeGreaterThan(max);
        },
      ),
    );
  });

  it("can be shortened down to its first character, and no further", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 200 }), (text) => {
        let item = itemFor(0, "", text, 10_000);
        for (
          let shorter = shortened(item, undefined);
          shorter !== undefined;
          shorter = shortened(item, undefined)
        ) {
          expect(shorter.usedLength).toBeLessThan(item.usedLength);
          expect(payloadOf(shorter).isWellFormed()).toBe(true);
          item = shorter;
        }
        expect(payloadOf(item).length).toBeGreaterThan(0);
        expect(payloadOf(item).length).toBeLessThanOrEqual(3);
      }),
    );
  });
});
