/** Copies and near-duplicates of a text never displace other answers. */
import { describe, expect, test } from "vitest";
import { hitsOf, keysOf, NOW, shownOf } from "./corpus.ts";

const QUESTION = "how do we deploy with Konflux";
const ANSWERS = [
  { key: "when", value: "We deploy with Konflux on Tuesdays and Thursdays, before lunch." },
  { key: "who", value: "Whoever is on call may deploy with Konflux; ask Mia otherwise." },
  { key: "after", value: "After we deploy with Konflux the dashboards are watched for an hour." },
].map((fact, number) => ({ ...fact, createdAt: NOW - (number + 100) * 86_400_000 }));

function flood(count: number, textOf: (number: number) => string, folder = "") {
  return Array.from({ length: count }, (_, number) => ({
    key: `${folder}copy-${number}`,
    value: textOf(number),
    createdAt: NOW - number * 60_000,
  }));
}

async function answersAmong(facts: Parameters<typeof hitsOf>[0], limit: number): Promise<number> {
  const keys = (await hitsOf(facts, QUESTION, limit)).map(({ key }) => key);
  return ANSWERS.filter(({ key }) => keys.includes(key)).length;
}

describe("among fifty", () => {
  test.each([
    ["copies", (_: number) => "We deploy with Konflux: deploy, Konflux, always."],
    [
      "copies with other letters",
      (n: number) => `We DEPLOY with Konflux: deploy, konflux, always${"!".repeat(n)}`,
    ],
    [
      "copies with a number",
      (n: number) => `We deploy with Konflux: how we deploy is with Konflux, note ${n}.`,
    ],
    [
      "copies with one word each that differs",
      (n: number) => `How do we deploy with Konflux? We deploy it with w${n}ord.`,
    ],
    [
      "copies in another order",
      (n: number) =>
        ["deploy", "Konflux", "we", "with", "how", "do", `x${n}`].sort(() => (n % 2) - 0.5).join(" "),
    ],
  ])("%s every other answer is found", async (_, textOf) => {
    const facts = [...ANSWERS, ...flood(50, textOf)];
    for (const limit of [4, 10]) expect(await answersAmong(facts, limit)).toBe(3);
  });

  test("every other answer is found among lines of a conversation", async () => {
    const facts = [
      ...ANSWERS,
      ...flood(50, (n) => `We deploy with Konflux: how we deploy is with Konflux, ${n}.`, "talk/"),
    ];
    expect(await answersAmong(facts, 4)).toBe(3);
  });
});

test("possible hits are not near-copies when there is another", async () => {
  const copies = flood(9, (n) => `Wifi at home: the wifi is called Kolibri, says note ${n}.`);
  const other = { key: "office", value: "The office has a wifi of its own on the second floor." };
  const shown = await shownOf([...copies, other], "what is the password of the wifi upstairs");
  expect(shown.map(({ key, possible }) => [key.split("-")[0], possible])).toEqual(
    expect.arrayContaining([
      ["copy", true],
      ["office", true],
    ]),
  );
});

test("facts that differ in a number are all shown if there is room", async () => {
  const numbered = flood(6, (n) => `Room ${n} on the first floor is reserved for the team of Mia.`);
  expect(await keysOf(numbered, "which room is reserved for the team of Mia")).toHaveLength(6);
});
