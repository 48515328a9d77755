/** What the documents say of the limits of questions and answers is what the code holds to. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ANSWER_LIMITS, limitsText } from "../../engine/index.ts";

const read = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), "utf8");
const { queryCharacters, hits, snippetCharacters, possibleExcerptCharacters } = ANSWER_LIMITS;
const { chunks, facts, documentLines, documentBytes } = ANSWER_LIMITS;

it.each([
  ["question", `${queryCharacters.toLocaleString("en")} characters; the rest is cut off`],
  ["hits", limitsText(hits)],
  [
    "snippet of a hit",
    `${snippetCharacters} characters, and ${possibleExcerptCharacters} where nothing answers surely`,
  ],
  ["chunks of a page", limitsText(chunks)],
  ["facts of a page", limitsText(facts)],
  ["a document at a time", `${documentLines} lines, and ${documentBytes / 1_024} KiB of them`],
])("the reference gives the limit of %s", (what, limit) => {
  expect(read("reference/rest.md")).toContain(`\n| ${what} | ${limit} |\n`);
});

it("the reference of the plugin gives the same of snippets and documents", () => {
  const reference = read("reference/openclaw-plugin.md");
  expect(reference).toContain(`a snippet of at most ${snippetCharacters} characters`);
  expect(reference).toContain(`${documentLines} lines at a time`);
});
