/** The properties of the paraphrase set: sizes, no duplicates, no common word within a pair, and a checker that detects them. */
import { describe, expect, test } from "vitest";
import { sharingPairs } from "../../bench/check-paraphrases.ts";
import { halfOf, readParaphraseSet } from "../../bench/recall/paraphrase-set.ts";
import { sharedWords } from "../../bench/recall/shared-words.ts";
import { validateFact } from "../../engine/facts/facts-policy.ts";
import { repeated } from "./corpus.ts";

const { pairs, unanswerable } = readParaphraseSet();
const all = [...pairs, ...unanswerable];

function normal(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

describe("the paraphrase set", () => {
  test("has 200 pairs or more, and 200 questions without an answer, near misses among them", () => {
    expect(pairs.length).toBeGreaterThanOrEqual(200);
    expect(unanswerable.length).toBeGreaterThanOrEqual(200);
    expect(unanswerable.filter(({ near }) => near !== undefined).length).toBeGreaterThanOrEqual(60);
  });

  test("shares no word between a question and its fact", () => {
    expect(sharingPairs(pairs).map(({ pair, ...shared }) => ({ id: pair.id, ...shared }))).toEqual([]);
  });

  test("has no duplicates", () => {
    expect(repeated(all.map(({ id }) => id))).toEqual([]);
    expect(repeated(pairs.map(({ key }) => key))).toEqual([]);
    expect(repeated(pairs.map(({ fact }) => normal(fact)))).toEqual([]);
    expect(repeated(all.map(({ question }) => normal(question)))).toEqual([]);
  });

  test("holds facts that may be stored, and near misses of facts that it holds", () => {
    for (const { key, fact } of pairs) expect(() => validateFact({ key, value: fact })).not.toThrow();
    const keys = new Set(pairs.map(({ key }) => key));
    expect(unanswerable.filter(({ near }) => near !== undefined && !keys.has(near))).toEqual([]);
  });

  test("has unanswerable questions for every kind of fact", () => {
    const kinds = new Set(unanswerable.map(({ kind }) => kind));
    expect([...new Set(pairs.map(({ kind }) => kind))].filter((kind) => !kinds.has(kind))).toEqual([]);
  });

  test("has two halves of about the same size", () => {
    for (const lines of [pairs, unanswerable]) {
      const share = lines.filter((line) => halfOf(line) === "dev").length / lines.length;
      expect(share).toBeGreaterThan(0.4);
      expect(share).toBeLessThan(0.6);
    }
  });
});

describe("the checker of shared words", () => {
  test.each([
    ["when do we deploy", "Deployments happen on Tuesday."],
    ["what did I buy", "I bought a drill."],
    ["which people know", "One person knows: the caretaker."],
    ["who runs the cluster", "cluster-admin is the on-call engineer."],
    ["where is retry backoff set", "retryBackoff lives in the client."],
  ])("uses recall's analysis: %j and %j share a word", (question, fact) => {
    expect(sharedWords(question, fact).terms).not.toEqual([]);
  });

  test("uses a second stemmer for inflected words", () => {
    expect(sharedWords("how are invoices numbered", "Invoice numbering starts at 100.").stems).toEqual(
      expect.arrayContaining(["invoic", "number"]),
    );
  });

  test("compares spellings when no stemmer joins two words", () => {
    expect(sharedWords("who is the tester", "A test runs at night.").lookalikes).toEqual(["tester/test"]);
    expect(sharedWords("what was decided", "The decision is final.").lookalikes).toEqual([
      "decided/decision",
    ]);
    expect(sharedWords("when is payday", "The payday loan is due.").lookalikes).not.toEqual([]);
  });

  test("ignores words that only frame a question", () => {
    const { terms, stems, lookalikes } = sharedWords(
      "what did I say about the car",
      "Say what you did about it.",
    );
    expect([terms, stems, lookalikes]).toEqual([[], [], []]);
  });
});
