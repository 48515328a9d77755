/** The cost of a possible hit, in tokens of the model's context. */
import { expect, test } from "vitest";
import { readNaturalSet } from "../../bench/recall/natural-set.ts";
import { hitsForHost } from "../../plugin/boundary.ts";
import { DAY_MS, inTurn, openWithClock } from "../app/fixtures/memories.ts";

const MOST_TOKENS = 75;
const WRITER = { surface: "openclaw", agent: "main", sessionKind: "direct" };
/** Splits text like the first step of tokenizers: words, groups of three digits, runs of symbols, line breaks. */
const PIECE = /\p{L}+|\p{N}{1,3}|[^\s\p{L}\p{N}]+|\n/gu;

/** Overestimates: most English words are one token, but here every six letters count as one. */
function tokensIn(text: string): number {
  const pieces = text.match(PIECE) ?? [];
  return pieces.reduce((sum, piece) => sum + Math.ceil(piece.length / (/\p{L}/u.test(piece) ? 6 : 3)), 0);
}

test("a possible hit is at most 75 tokens, for facts with the longest frames", async () => {
  const { facts, questions, unanswerable } = readNaturalSet();
  const { clock, memory } = await openWithClock();
  await inTurn(facts, ({ key }) => memory.storeFact("main", { key, value: "?" }, WRITER));
  clock.pass(DAY_MS);
  await inTurn(facts, ({ key, value }) => memory.storeFact("main", { key, value }, WRITER));
  const costs: number[] = [];
  await inTurn([...questions, ...unanswerable], async ({ question }) => {
    const { results } = await memory.search("main", { query: question });
    const { hits } = hitsForHost(
      results.filter(({ possible }) => possible),
      10,
    );
    costs.push(...hits.map(({ snippet }) => tokensIn(snippet)));
  });
  expect(costs.length).toBeGreaterThan(30);
  expect(Math.max(...costs)).toBeLessThanOrEqual(MOST_TOKENS);
});
