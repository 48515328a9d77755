/** docs/errors.md and the code list the same error codes in the same order, each with a meaning and a remedy. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ERROR_CODES } from "../../engine/errors.ts";

const rows = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").map((cell) => cell.trim()));

it("documents every error code, in order, and no other", () => {
  expect(rows.map((cells) => cells[1]?.replaceAll("`", ""))).toEqual([...ERROR_CODES]);
});

it("says for each what it means and what to do", () => {
  for (const [, , meaning = "", remedy = ""] of rows) {
    expect(meaning.length).toBeGreaterThan(10);
    expect(remedy.length).toBeGreaterThan(10);
  }
});
