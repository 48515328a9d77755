/** Whoever runs a benchmark with a wrong option is told so in a sentence. */
import { expect, test } from "vitest";
import { helpOf, readOptions, WRITE, WrongOption } from "../../bench/bench-options.ts";

const OPTIONS = {
  only: {
    type: "string",
    multiple: true,
    value: "PART",
    choices: ["search", "store"],
    about: "may be repeated",
  },
  seconds: { type: "string", value: "N", isCount: true, default: "8", about: "of each row" },
  write: WRITE,
} as const;

test("options have their values, and defaults", () => {
  expect(readOptions(OPTIONS, ["--only", "search", "--only", "store", "--write"])).toEqual({
    only: ["search", "store"],
    seconds: "8",
    write: true,
  });
});

test.each([
  [["--nonsense"], "Unknown option '--nonsense'"],
  [["--seconds"], "argument missing"],
  [["--seconds", "0"], '--seconds is a whole number above 0; not "0".'],
  [["--only", "sotre"], '--only is one of search, store; not "sotre".'],
  [["search"], "Unexpected argument 'search'"],
])("%j is refused with a sentence", (args, sentence) => {
  expect(() => readOptions(OPTIONS, args)).toThrow(WrongOption);
  expect(() => readOptions(OPTIONS, args)).toThrow(sentence);
});

test.each(["--help", "-h"])("%s shows each option, beside whatever else is asked", (help) => {
  expect(readOptions(OPTIONS, ["--nonsense", help])).toBe("help");
  expect(helpOf({ script: "bench:made", about: "Measures.", options: OPTIONS }).split("\n")).toEqual([
    "npm run bench:made -- [OPTION]…",
    "",
    "Measures.",
    "",
    "  --only PART  may be repeated: search, store",
    "  --seconds N  of each row (8)",
    "  --write      also puts the figures into docs/benchmarks.md",
  ]);
});
