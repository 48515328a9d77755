/** Pipeline files: the shipped ones, the operator's, and files that are refused with file and line. */
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  loadPipelines,
  parsePipeline,
  shippedPipelineFiles,
} from "../../../packs/pipelines/load-pipelines.ts";
import { tempFolder } from "../../app/fixtures/memories.ts";

const PACKS = new Set(["github.list_issues", "helmdeck.memory_store"]);

const HEAD = "id: mine\ndescription: Mine.\n";
const STEPS = "steps:\n  - id: a\n    pack: github.list_issues\n";
const GOOD = HEAD + STEPS;

const parse = (yaml: string) => parsePipeline(yaml, "mine.yaml", PACKS);

function refusalOf(yaml: string): { readonly message: string; readonly line: unknown } {
  try {
    parse(yaml);
  } catch (error) {
    expect(error).toMatchObject({ name: "HelmdeckError", code: "invalid_input" });
    const { message, details } = error as { message: string; details: { line: unknown } }; // checked above
    return { message, line: details.line };
  }
  throw new Error("was not refused");
}

describe("a pipeline file", () => {
  test("is read with comments, folded texts and every kind of value", () => {
    const yaml = `# mine
id: mine
description: >-
  Two
  lines.
steps:
  - id: a
    pack: github.list_issues
    with: { n: 3, f: 1.5, yes: true, none: null, list: [a, "b"], text: "\\u00e9", no: no }
`;
    const pipeline = parse(yaml);
    const given = { n: 3, f: 1.5, yes: true, none: null, list: ["a", "b"], text: "é", no: "no" };
    expect(pipeline.description).toBe("Two lines.");
    expect(pipeline.steps.map((step) => step.with)).toEqual([given]);
  });

  const BAD: readonly (readonly [string, string, number, string])[] = [
    ["an unknown key", `${GOOD}when: always\n`, 6, "mine.yaml:6: when is not a known field"],
    [
      "a later step named",
      `${GOOD}    with:\n      x: 1\n      y: \${{ steps.b.output }}\n`,
      8,
      "mine.yaml:8: steps.0.with.y names steps.b.output, and no earlier step has that id",
    ],
    ["no id", `description: d\n${STEPS}`, 1, "mine.yaml:1: id is missing"],
    ["no content", "", 1, "mine.yaml:1: the file must be of type object"],
    ["a key twice", `${GOOD}id: other\n`, 6, "mine.yaml:6: is not valid here"],
    ["a second document", `${GOOD}---\nid: other\n`, 6, "is not valid here"],
    ["an unknown tag", `${GOOD}output: !run "rm -rf"\n`, 6, "is not valid here"],
    ["a tag that YAML knows", `${GOOD}output: [!!binary aGk=]\n`, 6, "mine.yaml:6: has a tag (!…)"],
    ["a tag on a list", `${GOOD}output: !!seq [1]\n`, 6, "has a tag"],
    ["an alias to nothing", `${GOOD}output: *nothing\n`, 6, "has the alias *nothing"],
    ["an alias", `${GOOD}output: [&a 1, *a]\n`, 6, "mine.yaml:6: has the alias *a; write its value instead"],
    ["a bad indentation", `${HEAD}steps:\n - id: a\n   pack: x\n  bad: y\n`, 6, "is not valid here"],
    ["an open bracket", `${GOOD}output: [a\n`, 7, "is not valid here"],
    [
      "a template in braces",
      `${GOOD}output: { x: \${{ inputs.a }} }\n`,
      6,
      "inside { } or [ ] a template needs quotes",
    ],
    ["a tab for indentation", `${HEAD}steps:\n\t- id: a\n`, 4, "is not valid here"],
    ["a list as a key", `${GOOD}output:\n  ? [a]\n  : b\n`, 7, "is not valid here"],
  ];
  test.each(BAD)("with %s is refused, and the message names the line", (_, yaml, line, message) => {
    const refusal = refusalOf(yaml);
    expect(refusal.message).toContain(message);
    expect(refusal.line).toBe(line);
  });

  test("with many errors lists five and counts the rest", () => {
    const { message } = refusalOf(`${HEAD}steps: [${'{ id: a, pack: "" }, '.repeat(9)}]\n`);
    expect(message.match(/mine\.yaml:/g)).toHaveLength(5);
    expect(message).toMatch(/And \d+ more\.$/);
  });

  test("that is too large is refused before it is parsed", () => {
    expect(refusalOf(`${GOOD}# ${"x".repeat(64 * 1_024)}`).message).toContain("has more than 65536 bytes");
  });
});

describe("a hostile file", () => {
  /** Milliseconds. A file that is not refused takes minutes, or all of the memory. */
  const QUICKLY_MS = 20_000;
  const bomb = (levels: number): string => {
    const rows = Array.from({ length: levels }, (_, i) => {
      const inner = i === 0 ? '"x"' : `*a${i - 1}`;
      return `  a${i}: &a${i} [${Array(9).fill(inner).join(", ")}]`;
    });
    return `${GOOD}output:\n${rows.join("\n")}\n`;
  };

  test("with nested aliases is refused quickly", () => {
    const begun = performance.now();
    expect(refusalOf(bomb(9)).message).toContain("has the alias");
    expect(performance.now() - begun).toBeLessThan(QUICKLY_MS);
  });

  test.each([
    ["an alias within itself", `${GOOD}output: &a [${Array(9).fill("*a").join(", ")}]\n`],
    ["ten thousand brackets", `${GOOD}output: ${"[".repeat(10_000)}${"]".repeat(10_000)}\n`],
    ["ten thousand levels of mappings", `${GOOD}output: ${"{a: ".repeat(10_000)}1${"}".repeat(10_000)}\n`],
    ["deep block lists", `${GOOD}output:\n  ${"- ".repeat(10_000)}x\n`],
  ])("with %s is refused quickly, without an internal error", (_, yaml) => {
    const begun = performance.now();
    expect(refusalOf(yaml).message).toMatch(/mine\.yaml:\d+: /);
    expect(performance.now() - begun).toBeLessThan(QUICKLY_MS);
  });

  test("with a member called __proto__ changes nothing but that member", () => {
    const { output } = parse(`${GOOD}output:\n  __proto__: { polluted: true }\n`);
    expect(Object.keys(output as object)).toEqual(["__proto__"]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("puts no control characters into the message", () => {
    expect(refusalOf(`${GOOD}"a\\u001b[2Jb": 1\n`).message).toMatch(/^[\x20-\x7e]*$/);
  });
});

test("the pipeline of the reference page is valid", async () => {
  const page = await readFile(new URL("../../../docs/reference/pipelines.md", import.meta.url), "utf8");
  const [, yaml = ""] = /```yaml\n(.*?)```/s.exec(page) ?? [];
  expect(parse(yaml)).toMatchObject({ id: "repo.look", inputs: { label: { required: false } } });
});

describe("all pipelines", () => {
  test("that ship are valid with the packs that are always available", async () => {
    const pipelines = await loadPipelines({ packs: PACKS });
    expect(pipelines.map(({ id }) => id)).toEqual(["github.open-issues"]);
    expect(shippedPipelineFiles().map(({ name }) => name)).toEqual(["open-issues.yaml"]);
  });

  test("of the operator's folder are loaded; other files and subfolders are ignored", async () => {
    const folder = await tempFolder();
    await writeFile(join(folder, "b.yml"), GOOD.replace("mine", "b"));
    await writeFile(join(folder, "a.yaml"), GOOD.replace("mine", "a"));
    await writeFile(join(folder, "README.md"), "no pipeline");
    await mkdir(join(folder, "below.yaml"));
    const ids = (await loadPipelines({ packs: PACKS, folder })).map(({ id }) => id);
    expect(ids).toEqual(["github.open-issues", "a", "b"]);
  });

  test("are refused together if one is invalid, with its path and line", async () => {
    const folder = await tempFolder();
    await writeFile(join(folder, "bad.yaml"), `${GOOD}when: x\n`);
    await expect(loadPipelines({ packs: PACKS, folder })).rejects.toMatchObject({
      code: "invalid_input",
      details: { file: join(folder, "bad.yaml"), line: 6 },
    });
  });

  test.each(["mine", "github.open-issues"])("are refused if two have the id %s", async (id) => {
    const folder = await tempFolder();
    await writeFile(join(folder, "a.yaml"), GOOD.replace("mine", id));
    await writeFile(join(folder, "b.yaml"), GOOD.replace("mine", id));
    await expect(loadPipelines({ packs: PACKS, folder })).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(`the id ${id}`),
    });
  });

  test("are refused if the folder or a file in it cannot be read", async () => {
    const folder = await tempFolder();
    const missing = join(folder, "nothing");
    await expect(loadPipelines({ packs: PACKS, folder: missing })).rejects.toMatchObject({
      details: { file: missing },
    });
    await symlink("/dev/zero", join(folder, "device.yaml"));
    await expect(loadPipelines({ packs: PACKS, folder })).rejects.toMatchObject({
      message: expect.stringContaining("is not a regular file"),
    });
  });

  test("are refused if a file is not UTF-8 or is too large", async () => {
    for (const content of [Buffer.from([0x69, 0xff, 0xfe]), Buffer.alloc(70_000, "#")]) {
      const folder = await tempFolder();
      await writeFile(join(folder, "bad.yaml"), content);
      await expect(loadPipelines({ packs: PACKS, folder })).rejects.toMatchObject({ code: "invalid_input" });
    }
  });
});
