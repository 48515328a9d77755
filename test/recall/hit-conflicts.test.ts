/** Contradictions among the sure hits of one answer. */
import { describe, expect, test } from "vitest";
import { hitsOf, NOW, OWNER, recallOf, shownOf, WritableSource } from "./corpus.ts";

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

test("of hits that differ in a word of no known kind, the newer comes first, and none is said to contradict", async () => {
  const branch = (key: string, value: string, days: number) => ({ key, value, ...at(days) });
  const old = branch("release/branch", "The release branch of the app is trunk.", 40);
  const now = branch("branches", "By now the release branch of the app is stable.", 2);
  for (const facts of [
    [old, now],
    [now, old],
  ]) {
    const hits = await hitsOf(facts, "what is the release branch of the app");
    expect(hits.map(({ key }) => key)).toEqual(["branches", "release/branch"]);
    expect(hits.map(({ conflictsWith }) => conflictsWith)).toEqual([undefined, undefined]);
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

test("only hits that are shown are compared, and no possible ones", async () => {
  const [only, ...others] = await shownOf([OLD, NEW], "when is the standup", 1);
  expect([others, only?.conflictsWith]).toEqual([[], undefined]);
  const possible = await shownOf([OLD, NEW], "when is the standup of the marketing department in Lisbon");
  expect(possible.map(({ conflictsWith }) => conflictsWith)).toEqual(possible.map(() => undefined));
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
