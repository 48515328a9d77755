/** Which texts a model that knows English alone is asked about. */
import { describe, expect, test } from "vitest";
import { readNaturalSet } from "../../bench/recall/natural-set.ts";
import { readParaphraseSet } from "../../bench/recall/paraphrase-set.ts";
import { isEnglish } from "../../recall/analysis/commonness.ts";
import { OWNER, recallOf, WritableSource } from "./corpus.ts";
import { directionOf, drawSpace } from "./meaning.ts";

describe("a text is English", () => {
  test.each([
    "where do I live",
    "What did Inès say about the café?",
    "kubectl -n atlas rollout restart deploy/api",
    "ERR_UNKNOWN_FILE_EXTENSION in bench-recall.ts",
    "4711",
    "Konflux",
    "",
  ])("%s", (text) => expect(isEnglish(text)).toBe(true));

  test.each([
    "Wie heißt das WLAN bei mir auf der Arbeit?",
    "wo liegt der Schlüssel",
    "à quelle heure est-ce que je recharge la voiture",
    "que flores le gustan a la abuela",
    "quante volte al giorno la nonna prende le gocce",
    "welke pillen slik ik voor mijn bloeddruk?",
    "quando são as férias",
    "歯医者の予約はいつですか",
    "배포는 무슨 요일 오전에 하나요?",
    "когда у нас встреча",
  ])("%s is not", (text) => expect(isEnglish(text)).toBe(false));

  test("in the sets: no English one is taken for another, and nearly every other is noticed", () => {
    const { pairs } = readParaphraseSet();
    const { facts, languages } = readNaturalSet();
    expect(
      pairs.flatMap(({ fact, question }) => [fact, question]).filter((text) => !isEnglish(text)),
    ).toEqual([]);
    const foreign = [
      ...languages.map(({ question }) => question),
      ...facts.filter(({ language }) => language).map(({ value }) => value),
    ];
    expect(foreign.filter(isEnglish).length).toBeLessThanOrEqual(2);
  });
});

describe("a model that knows English alone", () => {
  const question = "wann hat der Hausarzt Sprechstunde";
  const facts = [
    { key: "hausarzt", value: "Der Hausarzt ist Dr. Brenner, Sprechstunde montags und donnerstags." },
    { key: "noise", value: "The tyres are in the cellar." },
  ];
  const places = { [facts[1]?.value ?? ""]: directionOf(question) };

  async function answerOf(language?: "english") {
    const { index } = drawSpace({ places, ...(language && { language }) });
    const recall = recallOf(new WritableSource(facts), { semantic: index });
    return recall.search(OWNER, { query: question });
  }

  test("has no say about a question in another language", async () => {
    const answer = await answerOf("english");
    expect(answer.results.map(({ key }) => key)).toEqual(["hausarzt"]);
    expect(answer).toMatchObject({ mode: "keyword", reason: expect.stringContaining("English") });
  });

  test("and one that knows many languages has", async () => {
    const { mode, results } = await answerOf();
    expect(mode).toBe("hybrid");
    expect(results.map(({ key }) => key)).toContain("noise");
  });

  test.each<[string, string, readonly string[]]>([
    ["that has no word of the question is no possible answer", "who won the world cup in 1998", []],
    ["is found by its words", "when is Mila's swimming in the Hallenbad", ["schwimmkurs"]],
  ])("a text that it cannot read %s", async (_what, asked, expected) => {
    const foreign = [
      { key: "schwimmkurs", value: "Der Schwimmkurs von Mila ist samstags um 10 Uhr im Hallenbad." },
      { key: "cave", value: "La clé de la cave est chez Nadia, elle habite au deuxième étage." },
      { key: "oma", value: "Oma trinkt den Kaffee immer schwarz und ohne Zucker." },
      { key: "frutas", value: "Compramos la fruta en el mercado de San Blas los martes." },
    ];
    // Where it puts such a text means nothing.
    const places = Object.fromEntries(foreign.map(({ value }) => [value, directionOf(asked)]));
    const { index } = drawSpace({ places, language: "english" });
    const recall = recallOf(new WritableSource(foreign), { semantic: index });
    const { results } = await recall.search(OWNER, { query: asked });
    expect(results.map(({ key }) => key)).toEqual(expected);
  });
});
