import { describe, expect, test } from "vitest";
import { HelmdeckError } from "../../engine/errors.ts";
import type { RecallOptions } from "../../recall/recall.ts";
import type { RecallAnswer } from "../../recall/search-contract.ts";
import { type FactSketch, NOW, OWNER, recallOf, WritableSource } from "./corpus.ts";
import { between, directionOf, drawSpace, type SpaceOptions } from "./meaning.ts";

const KONFLUX = "I always deploy via Konflux.";
const QUESTION = "how do we ship to production";
const shipping = directionOf("shipping");
/** The question's vector is a third of the way from the fact's vector. */
const PLACES = { [KONFLUX]: shipping, [QUESTION]: between(shipping, directionOf("asking"), 0.35) };

function facts(count: number): readonly FactSketch[] {
  return Array.from({ length: count }, (_, number) => ({
    key: `misc/${number}-note`,
    value: `Note ${number}: ${["pears", "boats", "stamps", "lamps"][number % 4]} were counted.`,
    createdAt: NOW - (number + 1) * 86_400_000,
  }));
}

async function recallOver(
  given: readonly FactSketch[],
  space: SpaceOptions = {},
  options: Partial<RecallOptions> = {},
) {
  const drawn = drawSpace({ places: PLACES, ...space });
  const source = new WritableSource(given);
  const recall = recallOf(source, { semantic: drawn.index, ...options });
  const search = (query: string, more = {}): Promise<RecallAnswer> =>
    recall.search(OWNER, { query, ...more });
  return { search, source, drawn };
}

const DEPLOY = { key: "deploy-preference", value: KONFLUX };

describe("hybrid search", () => {
  test("finds a fact by a near paraphrase as a sure hit", async () => {
    const { search } = await recallOver([DEPLOY, ...facts(30)]);
    const { results, mode, reason } = await search(QUESTION);
    expect({ mode, reason }).toEqual({ mode: "hybrid", reason: undefined });
    expect(results.map(({ key }) => key)).toEqual([DEPLOY.key]);
    expect(results[0]?.score).toBeGreaterThanOrEqual(0.5);
    expect(results[0]?.score).toBeLessThan(1);
  });

  test.each([
    ["is newer", 1, ["food", "diet"]],
    ["is older", 90, ["diet", "food"]],
  ])("shows a fact that contradicts a sure one and %s: %s days old", async (_, daysAgo, shown) => {
    const eats = { key: "diet", value: "I eat meat.", createdAt: NOW - 40 * 86_400_000 };
    const stopped = { key: "food", value: "I no longer eat meat.", createdAt: NOW - daysAgo * 86_400_000 };
    const asked = "do I eat meat";
    const meat = directionOf("meat");
    const { search } = await recallOver([eats, stopped, ...facts(30)], {
      places: {
        [eats.value]: meat,
        [stopped.value]: between(meat, directionOf("no"), 0.4),
        [asked]: between(meat, directionOf("asking"), 0.2),
      },
    });
    const { results } = await search(asked);
    expect(results.map(({ key }) => key)).toEqual(shown);
    expect(results[0]?.conflictsWith?.map(({ key }) => key)).toEqual(shown.slice(1));
  });

  test("is sure of a fact that is clearly ahead, and not of one of two", async () => {
    const near = between(directionOf(QUESTION), directionOf("else"), 0.45);
    const one = { key: "one", value: "Argo CD rolls Atlas out." };
    const other = { key: "other", value: "Helm puts Atlas there." };
    const places = { ...PLACES, [QUESTION]: directionOf(QUESTION), [one.value]: near, [other.value]: near };
    const answerOver = async (stored: readonly FactSketch[]) => {
      const { index: semantic } = drawSpace({ places });
      const recall = recallOf(new WritableSource([...stored, ...facts(30)]), { semantic });
      return (await recall.search(OWNER, { query: QUESTION })).results;
    };
    expect((await answerOver([one]))[0]).not.toHaveProperty("possible");
    expect((await answerOver([one, other]))[0]).toHaveProperty("possible");
  });

  test("also finds it if it is the only fact", async () => {
    const { search } = await recallOver([DEPLOY]);
    expect((await search(QUESTION)).results).toHaveLength(1);
  });

  test.each([1, 3, 30, 300])("returns none of %i facts for an unrelated question", async (count) => {
    const { search } = await recallOver(facts(count));
    for (let number = 0; number < 100; number += 1) {
      const { results, mode } = await search(`is there anything concerning matter${number}x`);
      expect({ sure: results.filter(({ possible }) => !possible), mode }).toEqual({
        sure: [],
        mode: "hybrid",
      });
      expect(results.length).toBeLessThanOrEqual(3);
    }
  });

  test("gives the same answers in a space where all vectors are close", async () => {
    const given = [DEPLOY, ...facts(30)];
    const plain = await recallOver(given);
    const squeezed = await recallOver(given, { squeezed: 0.6 });
    for (const query of [QUESTION, "deploy Konflux"]) {
      const [one, other] = [await plain.search(query), await squeezed.search(query)];
      expect([one.results[0]?.key, other.results[0]?.key]).toEqual([DEPLOY.key, DEPLOY.key]);
    }
    const nothing = { recall: "quiet" };
    expect((await squeezed.search("is there anything concerning matter1x", nothing)).results).toEqual([]);
  });

  test("does not count similarity twice if shared words explain it", async () => {
    const question = "which boats were painted by grandfather";
    const places = {
      "Note 1: boats were counted.": between(directionOf(question), directionOf("else"), 0.46),
    };
    const near = await recallOver(facts(30), { places });
    expect((await near.search(question, { recall: "quiet" })).results).toEqual([]);
    expect((await near.search(question)).results[0]).toMatchObject({ key: "misc/1-note", possible: true });
    const same = await recallOver(facts(30), {
      places: { ...places, "grandpa ahoy": directionOf(question) },
    });
    expect((await same.search("grandpa ahoy")).results.map(({ key }) => key)).toEqual(["misc/1-note"]);
  });

  test("ranks clear similarity above a shared common word", async () => {
    const sharing = {
      key: "office",
      value: "The production line in the old office makes lamps, boats and pears.",
    };
    const { search } = await recallOver([DEPLOY, sharing, ...facts(30)], {}, { showsAll: true });
    const [first, ...others] = (await search(QUESTION, { limit: 50 })).results;
    expect(first?.key).toBe(DEPLOY.key);
    expect(others.map(({ key }) => key)).toContain(sharing.key);
  });

  test("shows another fact beside a matching one only if it is nearly as similar", async () => {
    const second = { key: "second", value: "Deployments start with a green build." };
    const places = { ...PLACES, [second.value]: between(shipping, directionOf("building"), 0.1) };
    const { search } = await recallOver([DEPLOY, second, ...facts(300)], { places });
    const { results } = await search(QUESTION);
    expect(results.map(({ key }) => key)).toEqual([DEPLOY.key, second.key]);
    expect(results[1]?.score).toBeLessThan(results[0]?.score ?? 0);
  });

  test("keeps an exact answer first, with a score near 0.9", async () => {
    const { search } = await recallOver([DEPLOY, ...facts(30)]);
    const [first] = (await search("deploy via Konflux")).results;
    expect(first).toMatchObject({ key: DEPLOY.key });
    expect(first?.score).toBeGreaterThan(0.85);
    expect(first?.score).toBeLessThan(1);
  });

  test("finds a document by its name, whatever the similarity", async () => {
    const { search } = await recallOver([DEPLOY, ...facts(30)]);
    expect((await search("misc/7-note")).results[0]).toMatchObject({ key: "misc/7-note" });
  });

  test("ranks the newer of two equal answers first, in a stable order", async () => {
    const old = { key: "a", value: KONFLUX.replace("always", "usually"), createdAt: NOW - 90 * 86_400_000 };
    const fresh = { key: "b", value: KONFLUX.replace("always", "mostly"), createdAt: NOW - 3_600_000 };
    const { search } = await recallOver([fresh, old, ...facts(10)], {
      places: { ...PLACES, [old.value]: shipping, [fresh.value]: shipping },
    });
    const orders = new Set<string>();
    for (let time = 0; time < 5; time += 1) {
      orders.add((await search(QUESTION)).results.map(({ key }) => key).join());
    }
    expect([...orders]).toEqual(["b,a"]);
  });

  test("does not find an expired entry", async () => {
    const { search } = await recallOver([{ ...DEPLOY, expiresAt: NOW }, ...facts(3)]);
    expect((await search(QUESTION)).results.map(({ key }) => key)).not.toContain(DEPLOY.key);
  });

  test("--explain shows the parts of the score", async () => {
    const { search } = await recallOver([DEPLOY, ...facts(30)]);
    const { results } = await search(QUESTION, { explain: true });
    expect(results[0]?.parts).toMatchObject({ bm25: { value: 0 }, isNamed: { value: 0 } });
    expect(results[0]?.parts?.nearness?.value).toBeGreaterThan(2);
    expect((await search(QUESTION)).results[0]?.parts).toBeUndefined();
  });
});

describe("the same text stored several times", () => {
  const copies = [
    "I always deploy via Konflux.",
    "i always DEPLOY via Konflux!",
    "I always deploy  via konflux",
  ];
  const stored = copies.map((value, number) => ({
    key: `copy-${number}`,
    value,
    createdAt: NOW - number * 1_000,
  }));
  const places = Object.fromEntries(copies.map((value) => [value, shipping]));

  test("is one answer, the newest, with the number of copies", async () => {
    const { search } = await recallOver(stored, { places: { ...PLACES, ...places } });
    const { results, leftOut } = await search(QUESTION, { explain: true });
    expect(results).toMatchObject([{ key: "copy-0" }]);
    const why = "the same text as another candidate";
    expect(leftOut).toMatchObject([
      { key: "copy-1", why },
      { key: "copy-2", why },
    ]);
  });

  test("counts as another text with a negation", async () => {
    const never = { key: "never", value: "I never deploy via Konflux." };
    const { search } = await recallOver([...stored, never], {
      places: { ...PLACES, ...places, [never.value]: shipping },
    });
    expect((await search(QUESTION)).results.map(({ key }) => key).sort()).toEqual(["copy-0", "never"]);
  });
});

describe("without semantic search", () => {
  const refusing = (code: "model_missing" | "embeddings_unavailable") => ({
    embedQuery: () => Promise.reject(new HelmdeckError(code, "secret words of the service")),
  });

  test.each([
    ["model_missing", "Searched by keywords only: the embedding model is not installed."],
    ["embeddings_unavailable", "Searched by keywords only: the embedding service is not available."],
  ] as const)(
    "after %s keyword search answers, exactly as without a service, with the reason",
    async (code, reason) => {
      const given = [DEPLOY, ...facts(30)];
      const { search } = await recallOver(given, refusing(code));
      const plain = recallOf(new WritableSource(given));
      for (const query of ["deploy Konflux", QUESTION, "boats counted"]) {
        const expected = await plain.search(OWNER, { query, explain: true });
        expect(await search(query, { explain: true })).toEqual({ ...expected, reason });
      }
    },
  );

  test("is not sure of a fact that lacks the answer, however many facts the question names", async () => {
    const named = ["aa/one", "bb/two", "cc/three", "dd/four"];
    const question = `${named.join(" ")} how often is game night`;
    const near = between(directionOf(question), directionOf("else"), 0.46);
    const night = { key: "night", value: "Game night is at the club" };
    const stored = named.map((key) => ({ key, value: `Game night ${key}` }));
    const places = Object.fromEntries(stored.map(({ value }) => [value, directionOf(question)]));
    const { index: semantic } = drawSpace({
      places: { ...places, [question]: directionOf(question), [night.value]: near },
    });
    const recall = recallOf(new WritableSource([night, ...stored, ...facts(30)]), { semantic });
    const { results } = await recall.search(OWNER, { query: question });
    expect(results.map(({ key }) => key).sort()).toEqual(named);
  });

  test.each([
    ["a service", {}, "the embedding service did not answer in time."],
    [
      "the built-in model",
      { isLocal: true },
      "the built-in model did not answer in time (this machine is busy); try again in a moment.",
    ],
  ] as const)("a late vector of %s: the reason says what to do", async (_, space, reason) => {
    const late = { embedQuery: () => Promise.reject(new HelmdeckError("deadline_exceeded", "Late.")) };
    const { search } = await recallOver([DEPLOY], { ...space, ...late });
    expect((await search(QUESTION)).reason).toBe(`Searched by keywords only: ${reason}`);
  });

  test("the next question tries again", async () => {
    let isUp = false;
    const { embedder } = drawSpace({ places: PLACES });
    const { search } = await recallOver([DEPLOY], {
      embedQuery: (text) =>
        isUp ? embedder.embedQuery(text) : refusing("embeddings_unavailable").embedQuery(),
    });
    const quiet = { recall: "quiet" };
    expect(await search(QUESTION, quiet)).toMatchObject({ mode: "keyword", results: [] });
    isUp = true;
    expect(await search(QUESTION)).toMatchObject({ mode: "hybrid", results: [{ key: DEPLOY.key }] });
  });

  test("an empty memory sends nothing and has no reason", async () => {
    const { search, drawn } = await recallOver([]);
    expect(await search(QUESTION)).toEqual({ results: [], mode: "keyword" });
    expect(drawn.asked).toEqual([]);
  });
});

test("if only some entries are embedded, these are used, and the answer reports it", async () => {
  const drawn = drawSpace({ places: PLACES });
  const semantic = { ...drawn.index, coverage: () => ({ embedded: 1, total: 4, refused: 1 }) };
  const recall = recallOf(new WritableSource([DEPLOY, ...facts(3)]), { semantic });
  expect(await recall.search(OWNER, { query: QUESTION })).toMatchObject({
    mode: "hybrid",
    results: [{ key: DEPLOY.key }],
    reason: "Embedded so far: 1 of 4 entries. The others are found by keywords.",
  });
});
