/** Doctor's conclusion is one sentence, so that nobody has to read the checks without problems. */
import { expect, test } from "vitest";
import type { Finding } from "../../app/memory.ts";
import { doctorText } from "../../app/presenters/doctor-text.ts";

const FINE: Finding = { level: "ok", check: "rows", message: "Every row can be opened." };
const ADVICE: Finding = { level: "ok", check: "key", message: "Back it up.", remedy: "Copy it." };
const WARNING: Finding = { level: "warning", check: "clock", message: "It is behind.", remedy: "Set it." };
const ERROR: Finding = { level: "error", check: "data\u001bbase", message: "It is damaged." };

const plain = { style: (_: string, text: string) => text };
const lastLine = (findings: readonly Finding[]) => doctorText({ findings }, plain).answer.at(-1);

test.each<[readonly Finding[], string]>([
  [[FINE], "Everything is fine."],
  [[FINE, ADVICE], "Everything works. Also recommended: key."],
  [[FINE, WARNING], "1 problem needs attention: clock."],
  [
    [WARNING, ERROR, FINE, ADVICE],
    "2 problems need attention: clock, data[U+001B]base. Also recommended: key.",
  ],
  [[WARNING, { ...WARNING, message: "And wrong." }], "1 problem needs attention: clock."],
])("the conclusion names the problems and recommendations (%#)", (findings, words) => {
  expect(lastLine(findings)).toBe(words);
});

test("each finding is a line with its remedy below; the store's numbers are for programs", () => {
  const { answer } = doctorText({ findings: [FINE, WARNING] }, plain);
  expect(answer.slice(0, 3)).toEqual([
    "ok       rows: Every row can be opened.",
    "warning  clock: It is behind.",
    "         → Set it.",
  ]);
});
