/** docs/reference/embeddings.md matches the code for each model. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import models from "../../sidecar/embedding-models.json" with { type: "json" };
import { profileOf } from "../../sidecar/models.ts";

const rows = readFileSync(new URL("../../docs/reference/embeddings.md", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => /^\| (`.*|any other) \|.*\| \d+ \| (?:(?:not )?run here )?\|$/.test(line))
  .map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, 6)
      .map(plain),
  );

/** A table cell's text without code marks and escapes. */
function plain(cell: string): string {
  return cell.trim().replace(/^`|`$/g, "").replaceAll("\\|", "|").replaceAll("↵", "\n");
}

describe("the table of models", () => {
  it("exists", () => {
    expect(rows.length).toBeGreaterThan(15);
  });

  it.each(rows)("is right about %s", (model, query, document, tokens, tried) => {
    const known = models.find(({ pattern }) => new RegExp(pattern).test(model ?? ""));
    const language = known?.language === undefined ? {} : { language: known.language };
    expect(profileOf(model ?? "")).toEqual({
      prefixes: { query, document },
      contextTokens: Number(tokens),
      ...language,
    });
    expect(tried).toBe(known?.tried ?? "");
  });
});

it("each model of the data file has a source, and whether it was tested here", () => {
  for (const { source, tried } of models) {
    expect(source).toMatch(/^https:\/\/[^ ]+$/);
    expect(["run here", "not run here"]).toContain(tried);
  }
});

it.each([
  ["nomic-embed-text:v1.5", "search_query: "],
  ["hf.co/nomic-ai/nomic-embed-text-v1.5-GGUF:Q8_0", "search_query: "],
  ["intfloat/e5-mistral-7b-instruct", "Instruct: "],
  ["Snowflake/snowflake-arctic-embed-l-v2.0", "query: "],
  ["Snowflake/snowflake-arctic-embed-m-v1.5", "Represent this sentence"],
  ["BAAI/bge-m3", ""],
  ["my-own-nomic-embed-text", ""],
])("knows %s without registry, namespace and tag", (model, query) => {
  const { prefixes } = profileOf(model);
  expect(query === "" ? prefixes.query === "" : prefixes.query.startsWith(query)).toBe(true);
});
