/** Facts that a store reports as similar: possible corrections, not every fact that shares a word. */
import { expect, test } from "vitest";
import { readNaturalSet } from "../../bench/recall/natural-set.ts";
import { inTurn, openTestMemory } from "./fixtures/memories.ts";

const CORRECTIONS = [
  ["I always deploy via Konflux", "I always deploy via Argo CD"],
  ["My phone number ends in 4711", "My phone number ends in 4712"],
  ["Marta leads the platform team", "Since June Jonas is lead of the platform team"],
  ["We use vim", "The editor is now Helix"],
  ["The standup is at 9:30", "Standup moved to 10:00 on weekdays"],
  ["The car is a grey Skoda", "We sold the Skoda; the new car is a red Fiat"],
  ["The office is in Lime Street 4", "The office moved to Harbour Road 12"],
  ["Releases happen every Thursday", "Releases happen every second Tuesday"],
] as const;

test.each(CORRECTIONS)('"%s" is reported as similar when it is corrected: "%s"', async (before, after) => {
  const memory = await openTestMemory();
  await memory.storeFact("main", { key: "before", value: before });
  await memory.storeFact("main", { key: "another", value: "The dentist opens at noon" });
  const { similar = [] } = await memory.storeFact("main", { key: "after", value: after });
  expect(similar.map(({ key }) => key)).toEqual(["before"]);
});

test("among unrelated everyday facts, hardly any is reported as similar", async () => {
  const memory = await openTestMemory();
  const { facts } = readNaturalSet();
  let told = 0;
  await inTurn(facts, async ({ key, value }) => {
    const { similar } = await memory.storeFact("main", { key, value });
    if (similar !== undefined) told += 1;
  });
  expect(facts.length).toBeGreaterThan(50);
  expect(told).toBeLessThanOrEqual(5);
});

test("are not looked for if the store says so", async () => {
  const memory = await openTestMemory();
  await memory.storeFact("main", { key: "before", value: "The office is in Lime Street 4" });
  const again = { key: "after", value: "The office is in Lime Street 4" };
  expect(await memory.storeFact("main", { ...again, similar: false })).not.toHaveProperty("sameAs");
  expect(await memory.checkFact("main", { ...again, similar: false })).not.toHaveProperty("sameAs");
  expect(await memory.checkFact("main", again)).toHaveProperty("sameAs", ["before"]);
});
