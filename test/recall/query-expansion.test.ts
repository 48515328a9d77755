/** Query expansion: the question in the memory's words, in addition to the original question and with slightly less weight. */
import { describe, expect, test } from "vitest";
import { HelmdeckError } from "../../engine/errors.ts";
import { LexicalIndex } from "../../recall/lexical/lexical-index.ts";
import { expandedQuery } from "../../recall/meaning/questions.ts";
import { type FactSketch, OWNER, recallOf, WritableSource } from "./corpus.ts";
import { between, directionOf, drawSpace, type SpaceOptions } from "./meaning.ts";

const FACT = { key: "habit", value: "We deploy on Tuesdays." };
const QUESTION = "when do we ship";
const EXPANDED = "when do we deploy";
const place = directionOf("deploying");
/** The model finds nothing for the original question. */
const PLACES = { [FACT.value]: place, [EXPANDED]: between(place, directionOf("asking"), 0.2) };

function open(facts: readonly FactSketch[], space: SpaceOptions = {}) {
  const drawn = drawSpace({ places: PLACES, ...space });
  const source = new WritableSource(facts);
  const recall = recallOf(source, { semantic: drawn.index });
  return { ask: (query: string) => recall.search(OWNER, { query }), drawn, source };
}

describe("a word of the question", () => {
  test("is also searched by a known synonym if memory does not have it", async () => {
    const { ask, drawn } = open([FACT]);
    const { results, mode } = await ask(QUESTION);
    expect({ keys: results.map(({ key }) => key), mode }).toEqual({ keys: ["habit"], mode: "hybrid" });
    expect(drawn.asked).toEqual([QUESTION, EXPANDED]);
  });

  test("is searched unchanged if memory has it", async () => {
    const { ask, drawn } = open([FACT, { key: "parcels", value: "Parcels ship from Bremen." }]);
    await ask(QUESTION);
    expect(drawn.asked).toEqual([QUESTION]);
  });

  test("is searched by a synonym if memory no longer has it", async () => {
    const parcels = { key: "parcels", value: "Parcels ship from Bremen." };
    const { ask, drawn, source } = open([FACT, parcels]);
    await ask(QUESTION);
    source.remove(parcels.key);
    await ask(QUESTION);
    expect(drawn.asked).toEqual([QUESTION, EXPANDED]);
  });

  test("has a lower score through a synonym than directly", async () => {
    const asPut = open([FACT], {
      places: { ...PLACES, [QUESTION]: between(place, directionOf("asking"), 0.2) },
    });
    const expanded = open([FACT]);
    const scoreOf = async ({ ask }: ReturnType<typeof open>) => (await ask(QUESTION)).results[0]?.score ?? 0;
    expect(await scoreOf(asPut)).toBeGreaterThan(await scoreOf(expanded));
  });

  test("does not affect the result if only the original question can be embedded", async () => {
    const near = { ...PLACES, [QUESTION]: between(place, directionOf("asking"), 0.2) };
    const { ask } = open([FACT], {
      places: near,
      embedQuery: (text) =>
        text === QUESTION
          ? Promise.resolve(near[QUESTION])
          : Promise.reject(new HelmdeckError("embeddings_unavailable", "Busy.")),
    });
    const { results, mode, reason } = await ask(QUESTION);
    expect({ hits: results.length, mode, reason }).toEqual({ hits: 1, mode: "hybrid", reason: undefined });
  });
});

describe("query expansion", () => {
  const knowing = (...words: readonly string[]): LexicalIndex => {
    const index = new LexicalIndex();
    for (const word of words) index.terms.intern(word);
    return index;
  };

  test.each([
    ["How do we SHIP it?", ["deploi"], "How do we deploy it?"],
    ["when was it shipped to production", ["releas", "prod"], "when was it release to prod"],
    ["when do we ship", ["deploi", "ship"], undefined],
    ["which colour is my zyzzyva", ["deploi"], undefined],
    ["", ["deploi"], undefined],
    ["配送はいつですか", ["deploi"], undefined],
    [`${"ship ".repeat(61)}`, ["deploi"], undefined],
  ])("%j, where %j are known, becomes %j", (question, known, expanded) => {
    expect(expandedQuery(question, knowing(...known))).toBe(expanded);
  });
});
