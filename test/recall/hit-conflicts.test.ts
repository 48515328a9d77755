/** Contradictions among the sure hits of one answer. */
import { describe, expect, test } from "vitest";
import { madeFact } from "../../bench/search/made-facts.ts";
import { type FactSketch, hitsOf, NOW, OWNER, recallOf, shownOf, WritableSource } from "./corpus.ts";

const DAY = 86_400_000;
const at = (daysAgo: number) => ({ createdAt: NOW - daysAgo * DAY });
const OLD = { key: "standup/time", value: "The standup is at 9:30 in the big room", ...at(90) };
const NEW = { key: "daily", value: "standup moved to 10:00", ...at(2) };
const OTHER = { key: "retro", value: "The retro is at 15:00", ...at(5) };

describe("two sure hits that contradict each other", () => {
  test.each([
    ["the newer is stored first", [NEW, OLD, OTHER]],
    ["the older is stored first", [OTHER, OLD, NEW]],
  ])("name each other, the newer one first: %s", async (_, facts) => {
    const [first, second, ...rest] = await hitsOf(facts, "when is the standup");
    expect([first?.key, second?.key]).toEqual(["daily", "standup/time"]);
    expect(first?.conflictsWith).toEqual([{ key: "standup/time", updatedAt: NOW - 90 * DAY }]);
    expect(second?.conflictsWith).toEqual([{ key: "daily", updatedAt: NOW - 2 * DAY }]);
    expect(rest.filter(({ conflictsWith }) => conflictsWith !== undefined)).toEqual([]);
  });

  test("have different scores, since a host sorts by them", async () => {
    const same = (key: string, hour: number, days: number) => ({
      key,
      value: `gym opens at ${hour}:00`,
      ...at(days),
    });
    const hits = await hitsOf(
      [same("a/gym", 6, 30), same("b/gym", 7, 3), same("c/gym", 8, 10)],
      "when does the gym open",
    );
    expect(hits.map(({ key }) => key)).toEqual(["b/gym", "c/gym", "a/gym"]);
    expect(hits[0]?.conflictsWith?.map(({ key }) => key)).toEqual(["c/gym", "a/gym"]);
    const scores = hits.map(({ score }) => score);
    expect(scores).toEqual([...new Set(scores)].sort((one, other) => other - one));
  });
});

// verifies P-person-first
describe("where an agent's newer facts contradict a person's, that is first", () => {
  const writer = { surface: "openclaw", agent: "main", sessionKind: "direct" };
  const lie = (number: number) => ({
    key: `lie-${number}`,
    value: `standup moved to 10:${10 + number}`,
    ...at(number / 50),
    writer,
  });
  const lies = Array.from({ length: 30 }, (_, number) => lie(number));
  const UNSURE = "when is the standup of the marketing department in Lisbon moved";
  test.each([
    ["both sure", "when is the standup", 10, [lie(0)], ["standup/time", "lie"]],
    ["the person's not sure by itself", "has the standup moved", 10, [lie(0)], ["standup/time", "lie"]],
    ["both only possible", UNSURE, 10, [lie(0)], ["standup/time", "lie"]],
    ["room for one", "when is the standup", 1, [lie(0)], ["standup/time"]],
    ["thirty, both sure", "when is the standup", 2, lies, ["standup/time", "lie"]],
    ["thirty, the person's not sure", "has the standup moved", 2, lies, ["standup/time", "lie"]],
    ["thirty, only possible", UNSURE, 2, lies, ["standup/time", "lie"]],
  ])("%s", async (_, query, limit, others, keys) => {
    for (const surface of ["cli", "pages", "openclaw-chat", "openclaw-request", "rest-person"]) {
      const mine = { ...OLD, writer: { surface, agent: "main" } };
      const hits = await shownOf([mine, ...others], query, limit);
      expect(hits.map(({ key }) => key.replace(/-\d+/, ""))).toEqual(keys);
      if (hits[0]?.possible !== true) expect(hits[0]?.conflictsWith?.[0]?.key).toMatch(/^lie/);
    }
  });

  test.each(["openclaw", "pack", "rest", "import"])("but one by %s is not a person's", async (surface) => {
    const hits = await hitsOf([{ ...OLD, writer: { surface } }, lie(0)], "when is the standup");
    expect(hits.map(({ key }) => key)).toEqual(["lie-0", "standup/time"]);
  });
});

test("hits that only say the same, or are near, name nobody", async () => {
  const again = { key: "standup", value: "Standup at 9.30 am: 9:30 sharp, big room", ...at(1) };
  for (const facts of [
    [OLD, again],
    [OLD, OTHER],
  ]) {
    const hits = await hitsOf(facts, "when is the standup or the retro");
    expect(hits.filter(({ conflictsWith }) => conflictsWith !== undefined)).toEqual([]);
  }
});

test("of hits that differ in a word of no known kind, the one that says that it is so by now comes first, and both say so", async () => {
  const branch = (key: string, value: string, days: number) => ({ key, value, ...at(days) });
  const old = branch("release/branch", "The release branch of the app is trunk.", 40);
  const now = branch("branches", "By now the release branch of the app is stable.", 2);
  for (const facts of [
    [old, now],
    [now, old],
  ]) {
    const hits = await hitsOf(facts, "what is the release branch of the app");
    expect(hits.map(({ key }) => key)).toEqual(["branches", "release/branch"]);
    expect(hits.map(({ conflictsWith }) => conflictsWith?.map(({ key }) => key))).toEqual([
      ["release/branch"],
      ["branches"],
    ]);
  }
});

test("facts of up to sixteen words are compared", async () => {
  const code = (key: string, value: string, days: number) => ({ key, value, ...at(days) });
  const old = code("garage", "The code of the garage door in the yard is 4471.", 40);
  const now = code("gate", "The code of the garage door in the yard has changed again: it is 9032.", 2);
  const hits = await hitsOf([old, now], "what is the code of the garage door in the yard");
  expect(hits.map(({ key }) => key)).toEqual(["gate", "garage"]);
  expect(hits[0]?.conflictsWith?.map(({ key }) => key)).toEqual(["garage"]);
});

// verifies P-newer-shown
describe("the newer of what belongs together", () => {
  const DAYS = [90, 2] as const;
  const asked = (question: string, values: readonly [string, string], also: readonly FactSketch[] = []) => {
    const facts = values.map((value, place) => ({
      key: place === 0 ? "old" : "new",
      value,
      ...at(DAYS[place] ?? 0),
    }));
    return shownOf([...facts, ...also], question);
  };
  test.each([
    ["moved to", "which city does Lena live in", "Lena lives in the city of Cologne", "Lena moved to Aachen"],
    [
      "switched",
      "which package manager does the project use",
      "The project uses npm",
      "We switched the project to pnpm",
    ],
    ["sold", "what do I drive", "I drive a Golf", "I sold the Golf"],
    ["no longer", "where do I work", "I work at Brightwave", "I no longer work at Brightwave"],
    [
      "postponed",
      "when is the piano lesson",
      "Piano lesson is on Mondays",
      "The piano lesson was postponed to Thursdays",
    ],
    [
      "a port",
      "which port has SSH on the NAS",
      "SSH on the NAS listens on port 22",
      "SSH on the NAS is on port 49222",
    ],
    ["a theme", "which theme has my editor", "My editor theme is dark", "My editor theme is light"],
    ["a database", "which database does the shop use", "The shop uses MySQL", "The shop uses Postgres"],
    [
      "German",
      "Wann ist das Treffen",
      "Das Treffen ist am Dienstag",
      "Das Treffen ist auf Donnerstag verlegt",
    ],
    ["Spanish", "dónde vivo", "Vivo en Sevilla", "Me mudé a Valencia"],
    ["French", "quand est la réunion", "La réunion est le mardi", "La réunion est reportée au jeudi"],
  ])(
    "comes with the older and before it, whatever words it has, and both say so: %s",
    async (_, question, ...values) => {
      const [first, second] = await asked(question, values);
      expect([first?.key, second?.key]).toEqual(["new", "old"]);
      expect(first?.conflictsWith?.map(({ key }) => key)).toEqual(["old"]);
      expect(second?.conflictsWith?.map(({ key }) => key)).toEqual(["new"]);
    },
  );

  test("is said to be there for that, and not among what is not shown", async () => {
    const recall = recallOf(
      new WritableSource([
        { key: "old", value: "The project uses npm", ...at(90) },
        { key: "new", value: "We switched the project to pnpm", ...at(2) },
      ]),
    );
    const { results, leftOut = [] } = await recall.search(OWNER, { query: "npm", explain: true });
    expect(results.map(({ key, parts }) => [key, parts?.isBeside?.value])).toEqual([
      ["new", 1],
      ["old", 0],
    ]);
    expect(leftOut.filter(({ key }) => key === "new")).toEqual([]);
  });

  test("is not shown once it is expired, replaced or forgotten, and nobody names it", async () => {
    const source = new WritableSource([
      { key: "old", value: "The project uses npm", ...at(90) },
      { key: "new", value: "We switched the project to pnpm", ...at(2) },
    ]);
    const recall = recallOf(source);
    const keys = async () => {
      const { results } = await recall.search(OWNER, { query: "does the project use npm" });
      return results.map(({ key, conflictsWith = [] }) => [key, ...conflictsWith.map((other) => other.key)]);
    };
    expect(await keys()).toEqual([
      ["new", "old"],
      ["old", "new"],
    ]);
    source.put({ key: "new", value: "The cat sleeps in the kitchen", ...at(1) });
    expect(await keys()).toEqual([["old"]]);
    source.put({ key: "new", value: "We switched the project to pnpm", ...at(1) });
    expect(await keys()).toEqual([
      ["new", "old"],
      ["old", "new"],
    ]);
    source.remove("new");
    expect(await keys()).toEqual([["old"]]);
  });

  test("is found among two thousand facts, and before they are all compared", async () => {
    const others = Array.from({ length: 2_000 }, (_, number) => madeFact(number));
    const [first] = await asked(
      "which package manager does the project use",
      ["The project uses npm", "We switched the project to pnpm"],
      others,
    );
    expect([first?.key, first?.conflictsWith?.map(({ key }) => key)]).toEqual(["new", ["old"]]);
  });
});

test("the newer is shown also where there is room for one, and names what it replaces", async () => {
  const [only, ...others] = await shownOf([OLD, NEW], "when is the standup", 1);
  expect([only?.key, only?.conflictsWith?.map(({ key }) => key), others]).toEqual([
    "daily",
    ["standup/time"],
    [],
  ]);
});

test("lines of a conversation contradict nobody", async () => {
  const line = (number: number, value: string) => ({
    key: `chat/${number}`,
    value,
    createdAt: NOW - DAY + number * 60_000,
  });
  const chat = [
    line(1, "Ann: the standup is at 9:30"),
    line(2, "Ben: no, the standup is at 10:00"),
    line(3, "Ann: okay"),
  ];
  const { results } = await recallOf(new WritableSource(chat)).search(OWNER, {
    query: "when is the standup",
  });
  expect(results.length).toBeGreaterThan(1);
  expect(results.filter(({ conflictsWith }) => conflictsWith !== undefined)).toEqual([]);
});
