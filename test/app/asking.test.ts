/** Questions as people ask them: the words that frame a question must not hide the fact that answers it. */
import { describe, expect, test } from "vitest";
import type { RecallMode } from "../../engine/answer-limits.ts";
import { openTestMemory } from "./fixtures/memories.ts";

const FACTS = {
  deploy: "I always deploy via Konflux, never by hand.",
  editor: "I write code in Helix with two spaces.",
  "people/anna": "Anna leads the payments team and is allergic to peanuts.",
  "office/parking": "The parking garage closes at 22:00.",
};

async function keysFound(query: string): Promise<readonly string[]> {
  const memory = await openTestMemory();
  for (const [key, value] of Object.entries(FACTS)) await memory.storeFact("main", { key, value });
  return (await memory.search("main", { query })).results.map(({ key }) => key);
}

describe("natural questions", () => {
  test.each([
    "what was that thing about my Konflux deployment preference",
    "remind me what I said about Konflux",
    "do you remember what I told you about deploying with Konflux?",
    "hey, I think I mentioned something about Konflux once",
    "what do you know about Konflux deployments?",
  ])("%s", async (query) => {
    expect(await keysFound(query)).toEqual(["deploy"]);
  });

  test.each([
    ["can you tell me again what Anna is allergic to?", "people/anna"],
    ["remind me when the parking garage closes", "office/parking"],
  ])("%s", async (query, key) => {
    expect(await keysFound(query)).toEqual([key]);
  });

  test.each([
    "office/parking",
    "user_facts/office/parking",
    "helmdeck/user_facts/office/parking.md",
    "helmdeck/user_facts/office/parking.md#L1-L5",
    "helmdeck/user_facts/office/parking.md:3-3",
    "user_facts/office/parking#L3",
  ])("%s, by the name in an earlier answer", async (query) => {
    expect((await keysFound(query))[0]).toBe("office/parking");
  });

  test.each([
    "do you remember what I told you?",
    "remind me what I said about Terraform",
    "tell me something you know",
    "what was that thing about the Jenkins migration",
  ])("%s has no answer", async (query) => {
    expect(await keysFound(query)).toEqual([]);
  });
});

describe("results without a sure hit", () => {
  const WIFI = { key: "wifi", value: "The wifi at home is called Kolibri" };
  const query = "password of the wifi upstairs";

  test("depend on the memory's mode, and on the question's if it sets one", async () => {
    const memory = await openTestMemory({ recall: "quiet" });
    await memory.storeFact("main", WIFI);
    const shown = async (recall?: RecallMode) => {
      const asked = { query, ...(recall && { recall }) };
      const [{ results }, { chunks }] = [
        await memory.search("main", asked),
        await memory.corpusPage("main", asked),
      ];
      return [results.length, chunks.length];
    };
    expect(await shown()).toEqual([0, 0]);
    expect(await shown("balanced")).toEqual([1, 1]);
    expect(await shown("eager")).toEqual([1, 1]);
    expect(await shown("quiet")).toEqual([0, 0]);
  });

  test("support three modes, and refuse any other by name", async () => {
    const memory = await openTestMemory();
    const recall = "loud" as RecallMode; // a model may pass any value
    const refusal = { code: "invalid_input", message: expect.stringContaining("balanced, quiet, eager") };
    await expect(memory.search("main", { query, recall })).rejects.toMatchObject(refusal);
    await expect(memory.corpusPage("main", { query, recall })).rejects.toMatchObject(refusal);
  });
});
