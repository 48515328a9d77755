/** What two facts are to each other: contradictions are found, and none is seen where both facts can be true. */
import { describe, expect, test } from "vitest";
import { readPairs } from "../../bench/sets/pairs-set.ts";
import { Claim, type FactText } from "../../recall/claims.ts";
import { relationOf } from "../../recall/conflicts.ts";

/** By words alone, whichever comes first. */
function relation(one: FactText, other: FactText): string {
  const [here, there] = [new Claim(one), new Claim(other)];
  const found = relationOf(here, there);
  expect(relationOf(there, here)).toBe(found);
  return found;
}

const between = (one: string, other: string) =>
  relation({ key: "fact-a", value: one }, { key: "fact-b", value: other });

describe("a contradiction is", () => {
  test.each([
    ["another time", "The standup is at 9:30", "standup moved to 10:00"],
    ["another amount", "our rent is 1,150 euros a month", "The rent is €1,230 now"],
    ["another duration", "API timeout is 30 s", "the API timeout is 2 minutes"],
    ["another date", "The thesis is due on 1 April", "thesis deadline: April 15"],
    ["another weekday", "Bins are collected on Tuesday", "the bins are collected on Fridays"],
    ["another rate", "The backup runs daily", "the backup runs every week"],
    ["another name", "the puppy is called Waffles", "We named the puppy Sesame"],
    ["a negation", "We deploy on Fridays, too", "Never deploy on Fridays"],
    ["a rule for fewer cases", "We use feature flags for big features", "feature flags are not used here"],
    ["another place", "The spare keys are in the kitchen", "spare keys: in the garage"],
    ["a ban", "Pets are allowed in our flat", "pets are forbidden in the flat"],
    ["another number, after a comma", "The gym opens at 6:30, same entrance as ever", "gym opens at 7:00"],
    ["the end of something", "I am a vegetarian", "I am no longer vegetarian"],
    ["the end of a practice", "The bakery takes cards", "The bakery stopped taking cards"],
  ])("%s", (_, one, other) => {
    expect(between(one, other)).toBe("contradict");
  });

  test("another member of the kind that both keys name", () => {
    const yarn = { key: "js_packages", value: "Package manager: yarn" };
    expect(relation(yarn, { key: "package_manager", value: "use pnpm in all repos" })).toBe("contradict");
    expect(relation(yarn, { key: "tools", value: "pnpm is fast" })).not.toBe("contradict");
  });
});

describe("no contradiction is", () => {
  test.each([
    ["the same in another notation", "Standup at 2 pm, for half an hour", "the standup is at 14:00"],
    ["an amount of something else", "The rent is 1150 euros", "rent deposit: 3450 euros"],
    ["another room's number", "Room 12 has a projector", "Room 13 has a projector"],
    ["a start and an end", "School starts at 8:00", "School ends at 13:00"],
    ["an opening and a closing", "The shop opens at 9:00", "The shop closes at 18:00"],
    ["a way there and back", "flight to Oslo leaves at 7:40", "the flight back from Oslo is at 18:05"],
    ["another owner", "Mum's birthday is 8 April", "my birthday is 3 May"],
    ["another person first", "Anna eats meat", "I don't eat meat"],
    ["another person's age", "Lena is 9 years old", "Max is 7 years old"],
    ["another meeting", "The standup is at 9:30", "Retro is at 15:00"],
    ["another size", "Lena's shoe size is 34", "Lena's clothes size is 128"],
    ["two sprints", "sprint 14 ends on 12 June", "sprint 15 ends on 26 June"],
    ["two invoices", "Invoice 1023 is paid", "invoice 1024 is not paid"],
    ["another time of day", "1 tablet in the morning", "2 tablets in the evening"],
    ["two rules", "Never deploy on Fridays", "never deploy on Mondays"],
    ["the past", "We lived in Graz", "We live in Linz"],
    ["another year", "the summer holiday 2026 is in Croatia", "the summer holiday 2027 is in Norway"],
    ["one of several allergies", "allergic to Ibuprofen", "allergic to Aspirin"],
    ["one of several friends", "My friend Anna is from Spain", "My friend Ben is from Italy"],
    ["a limit per minute and per hour", "100 API requests per minute", "1000 API requests per hour"],
    ["an exception", "We use feature flags", "feature flags are not used for hotfixes"],
    ["another animal", "The dog sleeps in the kitchen", "The cat sleeps in the kitchen"],
    ["another habit", "I drink coffee in the morning", "I drink tea in the evening"],
    ["another visit", "Grandpa has surgery on 5 May", "Grandpa visits us on 9 May"],
    ["another service of the shop", "The shop opens at 9:00", "the shop delivers at 10:00"],
    ["a condition", "Pets are not allowed unless they are small", "Pets are allowed"],
    ["two denials", "there is no lift in the house", "The house has no elevator"],
    ["a denial in other words", "nothing else works but USB", "Only USB works"],
    ["an empty text", "", "The standup is at 9:30"],
  ])("%s", (_, one, other) => {
    expect(between(one, other)).not.toBe("contradict");
  });

  test("a similar sentence about something else, if a model says so", () => {
    const [one, other] = ["The gym opens at 6:30", "The gym opens at 7:00"].map(
      (value) => new Claim({ key: "gym", value }),
    );
    if (one === undefined || other === undefined) throw new Error("two claims");
    expect(relationOf(one, other, 10)).toBe("contradict");
    expect(relationOf(one, other, 1)).toBe("none");
  });
});

test("long and odd texts are read in no time", () => {
  const odd = [
    "1,".repeat(30_000),
    "a".repeat(60_000),
    " A".repeat(30_000),
    "the ".repeat(15_000),
    "'s".repeat(30_000),
  ];
  const started = performance.now();
  for (const value of odd) for (const other of odd) expect(between(value, other)).not.toBe("contradict");
  expect(performance.now() - started).toBeLessThan(2_000);
});

test("the same is said in other order and notation", () => {
  expect(between("our Monday meeting is at 2 pm", "Monday meeting at 14:00")).toBe("same");
  expect(between("log retention is 14 days", "Logs: retention of two weeks")).toBe("same");
  expect(between("the rent is 1,150 euros", "rent is due on the third")).toBe("similar");
});

test("the same is not said with another number, also in scripts without spaces", () => {
  expect(between("会议室在3楼", "会议室在4楼")).toBe("similar");
  expect(between("我的生日是3月5日", "我的生日是4月6日")).toBe("similar");
  expect(between("会議室は3階です", "会議室は4階です")).toBe("similar");
  expect(between("会议室在3楼", "会议室在 3 楼")).toBe("same");
});

describe("in the half of the set that is tuned on", () => {
  const pairs = readPairs().filter(({ half }) => half === "tune");
  const called = (label: string) =>
    pairs.filter((pair) => pair.label === label).map(({ a, b }) => relation(a, b) === "contradict");

  test("half of the contradictions are found", () => {
    expect(called("contradict").filter(Boolean).length).toBeGreaterThan(12);
  });

  test("at most one other pair is called one, and no two facts of different pairs are", () => {
    expect([...called("same"), ...called("near")].filter(Boolean).length).toBeLessThan(2);
    const claims = pairs.map(({ a, b }) => [a, b].map((fact) => new Claim(fact)));
    const others = claims.flatMap((here, place) =>
      claims
        .slice(place + 1)
        .flatMap((there) => here.flatMap((one) => there.map((other) => relationOf(one, other)))),
    );
    expect(others.length).toBeGreaterThan(10_000);
    expect(others.filter((found) => found === "contradict").length).toBeLessThan(3);
  });
});
