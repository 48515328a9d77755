/** The metrics that other published systems use, compared with values computed by hand. */
import { expect, test } from "vitest";
import { peersFiguresOf } from "../../bench/recall/figures.ts";

const asked = (evidence: readonly string[], keys: readonly string[]) => ({
  question: { question: "q", evidence, category: 1 },
  keys,
  ms: 0,
});

test("a session ranks as its best turn, however many of its turns are hits", () => {
  const keys = ["s1/a", "s1/b", "s2/a", "s3/a"];
  expect(peersFiguresOf([asked(["s2/z"], keys)]).sessionAny).toEqual([0, 1, 1]);
  expect(peersFiguresOf([asked(["s1/z", "s9/z"], keys)]).sessionAny).toEqual([1, 1, 1]);
  expect(peersFiguresOf([asked(["s9/z"], keys)]).sessionAny).toEqual([0, 0, 0]);
});

test("all turns of the evidence must be found for the question to count", () => {
  const keys = ["s/1", "s/2", "s/3", "s/4", "s/5", "s/6"];
  expect(peersFiguresOf([asked(["s/1", "s/6"], keys)]).all).toEqual([0, 1]);
  expect(peersFiguresOf([asked(["s/1"], keys), asked(["s/1", "s/9"], keys)]).all).toEqual([0.5, 0.5]);
});

test("NDCG@5 is 1 for the evidence first, less for the evidence later, 0 beyond five hits", () => {
  const keys = ["s/1", "s/2", "s/3", "s/4", "s/5", "s/6"];
  expect(peersFiguresOf([asked(["s/2", "s/1"], keys)]).ndcg).toBe(1);
  expect(peersFiguresOf([asked(["s/2"], keys)]).ndcg).toBeCloseTo(1 / Math.log2(3));
  expect(peersFiguresOf([asked(["s/6"], keys)]).ndcg).toBe(0);
  const seven = ["s/1", "s/2", "s/3", "s/4", "s/5", "s/6", "s/7"];
  expect(peersFiguresOf([asked(seven, keys)]).ndcg).toBe(1);
});
