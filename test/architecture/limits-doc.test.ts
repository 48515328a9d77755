/** The limits of requests and answers in the documents equal those in the code. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ANSWER_LIMITS, limitsText } from "../../engine/answer-limits.ts";

const read = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), "utf8");
const { queryCharacters, hits, snippetCharacters, possibleExcerptCharacters } = ANSWER_LIMITS;
const { chunks, facts, documentLines, documentBytes } = ANSWER_LIMITS;

it.each([
  ["query", `${queryCharacters.toLocaleString("en")} characters; the rest is cut off`],
  ["hits", limitsText(hits)],
  [
    "snippet of a hit",
    `${snippetCharacters} characters, and ${possibleExcerptCharacters} for a possible hit`,
  ],
  ["chunks on a page", limitsText(chunks)],
  ["facts on a page", limitsText(facts)],
  ["part of a document in one answer", `${documentLines} lines and ${documentBytes / 1_024} KiB`],
])("the reference gives the limit of %s", (what, limit) => {
  expect(read("reference/rest.md")).toContain(`\n| ${what} | ${limit} |\n`);
});

it("the reference of the plugin gives the same of snippets and documents", () => {
  const reference = read("reference/openclaw-plugin.md");
  expect(reference).toContain(`a snippet of at most ${snippetCharacters} characters`);
  expect(reference).toContain(`${documentLines} lines at a time`);
});
