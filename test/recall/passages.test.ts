/** Long values: found by passage, shown with the correct lines, never split within a character. */
import { describe, expect, test } from "vitest";
import { hitsOf } from "./corpus.ts";

const FILLER =
  "The river was calm and the boats lay still while the evening came slowly over the water meadows.";
const NEEDLE = "The spare key hangs behind the barometer in the pantry.";

function longValue(paragraphs: number, needleAt: number): string {
  return Array.from({ length: paragraphs }, (_, place) =>
    place === needleAt ? NEEDLE : `${FILLER} ${FILLER}`,
  ).join("\n\n");
}

/** The lines of the content that the hit's line numbers name. */
function shownLines(key: string, value: string, startLine: number, endLine: number): string {
  const content = `## ${key}\n\n${value}\n\n(category: user_facts)`;
  return content
    .split("\n")
    .slice(startLine - 1, endLine)
    .join("\n");
}

describe("a long value", () => {
  test.each([0, 1, 9, 24, 39])("is found by its paragraph %d and shows those lines", async (needleAt) => {
    const value = longValue(40, needleAt);
    const [hit] = await hitsOf([{ key: "diary", value }], "where does the spare key hang in the pantry");
    expect(hit?.score).toBeGreaterThanOrEqual(0.85);
    expect(hit?.snippet).toContain(NEEDLE);
    expect(hit?.snippet.length).toBeLessThanOrEqual(700);
    const lines = shownLines("diary", value, hit?.startLine ?? 0, hit?.endLine ?? 0);
    const shown = hit?.snippet.replace(/^…|…$/g, "") ?? "";
    expect(lines).toContain(shown);
    const [before, after] = [value.startsWith(shown) ? "" : "…", value.endsWith(shown) ? "" : "…"];
    expect(hit?.snippet).toBe(`${before}${shown}${after}`);
  });

  test("of one line is shown in parts of that line", async () => {
    const value = `${`${FILLER} `.repeat(60)}${NEEDLE} ${`${FILLER} `.repeat(60)}`.trim();
    const [hit] = await hitsOf([{ key: "blob", value }], "spare key barometer pantry");
    expect(hit?.snippet).toContain(NEEDLE);
    expect([hit?.startLine, hit?.endLine]).toEqual([3, 3]);
  });

  test("is one hit, however many passages match", async () => {
    const hits = await hitsOf([{ key: "diary", value: longValue(40, 3) }], "river calm boats water meadows");
    expect(hits.map(({ key }) => key)).toEqual(["diary"]);
  });

  test("without spaces is split between characters, not within one", async () => {
    const hits = await hitsOf([{ key: "faces", value: `rocket ${"🚀".repeat(3_000)}` }], "rocket");
    expect(hits[0]?.snippet.isWellFormed()).toBe(true);
    expect(hits[0]?.snippet.length).toBeLessThanOrEqual(700);
  });

  test("with the question's words in adjacent passages is still found", async () => {
    const value = `${FILLER} ${FILLER} ${FILLER} The gauge is broken.\n\n${NEEDLE} ${FILLER} ${FILLER}\n\n${longValue(8, 99)}`;
    const hits = await hitsOf([{ key: "notes", value }], "broken gauge barometer pantry");
    expect(hits.map(({ key }) => key)).toEqual(["notes"]);
  });
});
