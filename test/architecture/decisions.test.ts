/** Each decision record has its own number, and its title repeats it. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const folder = new URL("../../docs/decisions/", import.meta.url);
const records = readdirSync(folder).filter((name) => name !== "README.md");
const numberOf = (name: string) => Number(name.slice(0, 4));

test("no two decisions have one number", () => {
  const numbers = records.map(numberOf);
  expect(numbers.filter((number, at) => numbers.indexOf(number) !== at)).toEqual([]);
});

test.each(records)("%s has its number in its title", (name) => {
  const [title = ""] = readFileSync(new URL(name, folder), "utf8").split("\n");
  expect(Number(/^# (\d+)\. /.exec(title)?.[1])).toBe(numberOf(name));
});
