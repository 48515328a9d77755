/** A host's envelope before a message is not part of a question. */
import { expect, test } from "vitest";
import { requireQuery } from "../../app/searching.ts";
import { openTestMemory } from "./fixtures/memories.ts";

test.each([
  "[Mon 2026-11-23 17:02 UTC] ",
  "[Mon 2026-11-23 17:02:33 GMT+1] ",
  "[2026-11-23T17:02Z]\n",
  "[Telegram Dora id:4711 +2m Mon 2026-11-23 17:02 UTC] ",
])("%s is cut off", (envelope) => {
  expect(requireQuery({ query: `${envelope}where do I live` }).query).toBe("where do I live");
});

test.each([
  "[2026-11-23] what happened",
  "what happened [Mon 2026-11-23 17:02 UTC] in the log",
  "[Mon 2026-11-23 17:02 UTC]",
  "[draft] where do I live",
])("%s is left as it is", (query) => {
  expect(requireQuery({ query }).query).toBe(query);
});

test("a question in an envelope gets the same answer on every surface's way in", async () => {
  const memory = await openTestMemory();
  await memory.storeFact("main", { key: "dentist", value: "The dentist opens at noon" });
  const question = "when does the dentist open";
  const query = `[Mon 2026-11-23 17:02 UTC] ${question}`;
  const { results } = await memory.search("main", { query });
  expect(results.map(({ score }) => score)).toEqual(
    (await memory.search("main", { query: question })).results.map(({ score }) => score),
  );
  const asked = await memory.corpusPage("main", { query });
  expect(asked.chunks.map(({ score }) => score)).toEqual(results.map(({ score }) => score));
});
