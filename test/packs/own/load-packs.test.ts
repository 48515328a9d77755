/** The operator's own packs: the one in the documentation, packs that are refused with file and rule, and folders that others can change. */
import { chmod, chown, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadPacks } from "../../../packs/own/load-packs.ts";
import { ROOT } from "../../../scripts/build/build.ts";
import { tempFolder } from "../../app/fixtures/memories.ts";
import { ANA, failureOf, openPackRig } from "../engine/rig.ts";

const TAKEN = new Set(["github.list_issues"]);
const IS_ROOT = process.geteuid?.() === 0;
const NOBODY = 65_534;

async function documentedPack(): Promise<string> {
  const markdown = await readFile(join(ROOT, "docs", "reference", "packs.md"), "utf8");
  const [, block = ""] = markdown.split("takes this block out of the page and runs it. -->\n```js\n");
  return block.slice(0, block.indexOf("```"));
}

/** A folder with these modules. */
async function folderWith(modules: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(await tempFolder(), "packs");
  await mkdir(folder, { mode: 0o700 });
  for (const [name, text] of Object.entries(modules))
    await writeFile(join(folder, name), text, { mode: 0o600 });
  return folder;
}

const packText = (more = "", name = "mine.do") => `({ z }) => ({
  name: "${name}", version: "1.0.0", description: "Does.", input: z.object({}), output: z.object({}), run: async () => ({}), ${more}
})`;
const moduleOf = (more?: string, name?: string) => `export default ${packText(more, name)};`;

async function refusalOf(folder: string): Promise<string> {
  const refused = await failureOf(loadPacks(folder, TAKEN));
  expect(refused).toMatchObject({ code: "invalid_input", details: { file: expect.any(String) } });
  return refused.message;
}

describe("a folder of packs", () => {
  test("loads the pack of the documentation, which runs, fails and is recorded like any other pack", async () => {
    const packs = await loadPacks(await folderWith({ "word-count.mjs": await documentedPack() }), TAKEN);
    const { engine, rows } = await openPackRig(packs);
    const count = (text: string) =>
      engine.run({ pack: "text.word_count", input: { text }, caller: ANA, authenticated: true });
    expect(engine.list()).toMatchObject([{ name: "text.word_count", title: "Count words" }]);
    expect((await count("one two three")).output).toEqual({ words: 3 });
    expect(await failureOf(count(" "))).toMatchObject({
      code: "pack_failed",
      message: "The text has no words.",
    });
    expect(await rows()).toMatchObject([
      { outcome: "ok" },
      { outcome: "pack_failed", findings: [{ code: "empty_text", severity: "warning" }] },
    ]);
  });

  test("loads packs, lists of packs and functions that make them, and ignores other files and modules in subfolders", async () => {
    const folder = await folderWith({
      "a.mjs": `import { z } from "${join(ROOT, "node_modules/zod/index.js")}"; export default (${packText()})({ z });`,
      "b.js": `import { name } from "./lib/name.mjs"; export default async (kit) => [${packText("", "mine.one")}, ${packText("name", "x")}].map((make) => make(kit));`,
      "notes.txt": "no module",
    });
    await mkdir(join(folder, "lib"), { mode: 0o700 });
    await writeFile(join(folder, "lib", "name.mjs"), 'export const name = "mine.two";', { mode: 0o600 });
    const packs = await loadPacks(folder, TAKEN);
    expect(packs.map(({ name }) => name)).toEqual(["mine.do", "mine.one", "mine.two"]);
  });

  const CACHE = "credentials: true, memory: { cache: true, ttlSeconds: 60 }";
  const THROWS = 'export default () => { throw new Error("No\\nkey."); };';
  test.each<readonly [string, string, RegExp]>([
    ["a syntax error", "export default {", /mine\.mjs cannot be loaded: \w*Error: /],
    ["an import of nothing", 'import "./none.mjs";', /mine\.mjs cannot be loaded: Error: Cannot find module/],
    ["a function that throws", THROWS, /mine\.mjs cannot be loaded: Error: No key\.$/],
    ["no default export", "export const pack = 1;", /mine\.mjs must have as its default export a pack, /],
    ["a string", 'export default "pack";', /mine\.mjs must have as its default export a pack, /],
    ["an empty list", "export default [];", /mine\.mjs makes an empty list of packs\.$/],
    [
      "a bad name",
      moduleOf("", "Mine Do"),
      /mine\.mjs has a pack that cannot be used: name of a pack must be lower-case/,
    ],
    [
      "no version",
      moduleOf("version: undefined"),
      /used: version of pack mine\.do must be a semantic version/,
    ],
    ["an empty title", moduleOf('title: " "'), /used: title of pack mine\.do must have 1 to 64 characters/],
    [
      "a JSON Schema",
      moduleOf('input: { type: "object" }'),
      /used: input of pack mine\.do must be a zod 4 schema/,
    ],
    ["a date", moduleOf("input: z.object({ when: z.date() })"), /input of pack mine\.do cannot be described/],
    ["no handler", moduleOf("run: undefined"), /run of pack mine\.do must be a function/],
    [
      "a private cache",
      moduleOf(CACHE),
      /memory\.cache of pack mine\.do is not allowed for packs with credentials/,
    ],
    [
      "a taken name",
      moduleOf("", "github.list_issues"),
      /name github\.list_issues, which a shipped pack already has\.$/,
    ],
    [
      "our name",
      moduleOf("", "helmdeck.memory_more"),
      /names under helmdeck\. are reserved for shipped packs/,
    ],
  ])("is refused with %s", async (_, text, message) => {
    expect(await refusalOf(await folderWith({ "mine.mjs": text }))).toMatch(message);
  });

  test("is refused with one name in two files, without modules, or if it does not exist", async () => {
    const twice = await folderWith({ "a.mjs": moduleOf(), "b.mjs": moduleOf() });
    expect(await refusalOf(twice)).toMatch(
      /b\.mjs has a pack with the name mine\.do, which a\.mjs already has\.$/,
    );
    expect(await refusalOf(await folderWith({ "notes.txt": "" }))).toMatch(/has no packs/);
    expect(await refusalOf(join(twice, "none"))).toMatch(/none cannot be inspected \(ENOENT\)/);
    expect(await refusalOf(join(twice, "a.mjs"))).toMatch(/a\.mjs is not a folder of packs/);
  });
});

// verifies P-alone-code
describe("nothing is loaded or run", () => {
  const spy = () => {
    const mark = `mark-${Math.random()}`;
    return { mark, text: `globalThis[${JSON.stringify(mark)}] = true;\n${moduleOf()}` };
  };

  async function place(): Promise<{ folder: string; expectRefused: (rule: RegExp) => Promise<void> }> {
    const { mark, text } = spy();
    const folder = await folderWith({ "mine.mjs": text });
    return {
      folder,
      expectRefused: async (rule) => {
        expect(await refusalOf(folder)).toMatch(rule);
        expect(mark in globalThis).toBe(false);
      },
    };
  }

  test.each([
    ["the folder is", ".", 0o770],
    ["the folder, which is sticky, is", ".", 0o1777],
    ["a module is", "mine.mjs", 0o666],
    ["a file in a subfolder is", "lib/other.txt", 0o620],
    ["a subfolder is", "lib", 0o702],
    ["a parent folder is", "..", 0o777],
  ])("if %s writable for other accounts", async (_, path, mode) => {
    const { folder, expectRefused } = await place();
    await mkdir(join(folder, "lib"), { mode: 0o700 });
    await writeFile(join(folder, "lib", "other.txt"), "", { mode: 0o600 });
    await chmod(join(folder, path), mode);
    await expectRefused(
      / is writable for other accounts \(mode 0\d{3}\): chmod go-w it; no pack was loaded\.$/,
    );
  });

  test("if a link leads to a file that other accounts can write", async () => {
    const { folder, expectRefused } = await place();
    const elsewhere = join(await tempFolder(), "elsewhere.mjs");
    await writeFile(elsewhere, moduleOf("", "mine.other"));
    await chmod(elsewhere, 0o666);
    await symlink(elsewhere, join(folder, "linked.mjs"));
    await expectRefused(/elsewhere\.mjs is writable for other accounts/);
  });

  test.runIf(IS_ROOT).each([
    ["the folder", "."],
    ["a module", "mine.mjs"],
    ["a parent folder", ".."],
  ])("if %s belongs to another account", async (_, path) => {
    const { folder, expectRefused } = await place();
    await chown(join(folder, path), NOBODY, NOBODY);
    await expectRefused(
      / belongs to another account \(uid 65534\), which could change it; no pack was loaded\.$/,
    );
  });
});
