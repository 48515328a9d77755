/** `edit`: from the command line, and in an editor whose file is never on a disk. */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { BUNDLED_COMMAND, CommandHome } from "./command.ts";
import { runOnTerminal, runPiped } from "./terminal.ts";

const home = CommandHome.forAllTests();

const piped = (args: readonly string[], typed = "") => runPiped(args, { homeFolder: home.folder, typed });
const factNow = async () => JSON.parse((await piped(["get", "style", "--json"])).stdout);

beforeEach(async () => {
  await piped(["forget", "all", "--yes"]);
  const options = "--category house --tag prose --ttl 365d".split(" ");
  await piped(["store", "style", "Short sentences.", ...options]);
});

describe("a value that is given", () => {
  test.each([
    ["as an argument", ["Long ones."], ""],
    ["on standard input", ["-"], "Long ones.\n"],
    ["in a file", ["--value-file", home.path("value.txt")], ""],
  ])("%s replaces the old one; category, tags and expiry stay", async (_, args, typed) => {
    await writeFile(home.path("value.txt"), "Long ones.\n");
    const before = await factNow();
    const { code, stdout } = await piped(["edit", "style", ...args], typed);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Stored style \(house\) for main, replacing the value of /);
    const after = await factNow();
    expect(after).toMatchObject({ value: "Long ones.", category: "house", tags: ["prose"] });
    expect(Math.abs(Date.parse(after.expires_at) - Date.parse(before.expires_at))).toBeLessThan(60_000);
    expect((await piped(["undo", "style"])).code).toBe(0);
    expect(await factNow()).toMatchObject({ value: "Short sentences." });
  });

  // verifies P-edit-seen
  test("replaces nothing that was stored after it was read, and both values are shown", async () => {
    const typed = async () => {
      await piped(["store", "style", "Theirs."]);
      return "Mine.\n";
    };
    const { code, stderr } = await runPiped(["edit", "style", "-"], { homeFolder: home.folder, typed });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^Nothing was stored: style was changed or forgotten meanwhile\.\nYours:\n {6}Mine\.\nStored now:\n {6}Theirs\.\nchanged_meanwhile: /,
    );
    expect(await factNow()).toMatchObject({ value: "Theirs.", category: "house", tags: ["prose"] });
  });

  test("goes through the same policy", async () => {
    const token = `ghp_${"a1B2c3D4e5F6g7H8i9J0".repeat(2).slice(0, 36)}`;
    const refused = await piped(["edit", "style", token]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^secret_refused: /) });
    expect(refused.stderr).not.toContain(token);
    expect(await factNow()).toMatchObject({ value: "Short sentences." });
    expect(await piped(["edit", "style", token, "--allow-secret"])).toMatchObject({ code: 0 });
  });

  test("creates no fact and changes no other subject's", async () => {
    expect(await piped(["edit", "stile", "x"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^not_found: /),
    });
    expect(await piped(["edit", "style", "theirs", "--caller", "other"])).toMatchObject({ code: 1 });
    expect(await factNow()).toMatchObject({ value: "Short sentences." });
  });

  test.each([
    [["edit", "style", "x", "--value-file", "y"], "give the value once"],
    [["edit", "style"], "give the new value"],
  ])("%j is a mistake in the call", async (args, told) => {
    const { code, stderr } = await piped(args);
    expect(code).toBe(2);
    expect(stderr.toLowerCase()).toContain(told);
  });
});

const HAS_MEMORY_FOLDER = existsSync("/dev/shm");

describe.runIf(HAS_MEMORY_FOLDER)("an editor", () => {
  const edit = (editor: string, env: Readonly<Record<string, string>> = {}) =>
    runOnTerminal(["edit", "style"], {
      homeFolder: home.folder,
      env: { PATH: process.env.PATH ?? "", EDITOR: editor, ...env },
    });
  const inMemory = () =>
    (HAS_MEMORY_FOLDER ? readdirSync("/dev/shm") : []).filter((name) => name.startsWith("helmdeck-edit-"));
  const before = new Set(inMemory());
  const leftInMemory = () => inMemory().filter((name) => !before.has(name));
  afterAll(() => {
    for (const name of leftInMemory()) rmSync(`/dev/shm/${name}`, { recursive: true });
  });
  /** An editor that records the path and mode of its file, and changes the file. */
  const noting = `f() { echo "$1" > ${home.path("seen")}; stat -c %a "$1" >> ${home.path("seen")}; sed -i s/Short/Brief/ "$1"; }; f`;

  test("gets the value in a private file in memory, which is deleted afterwards", async () => {
    const { code, stdout } = await edit(noting);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Stored style /);
    expect(await factNow()).toMatchObject({ value: "Brief sentences." });
    const [file = "", mode] = readFileSync(home.path("seen"), "utf8").split("\n");
    expect(file).toMatch(/^\/dev\/shm\/helmdeck-edit-/);
    expect(mode).toBe("600");
    expect(existsSync(file)).toBe(false);
    expect(leftInMemory()).toEqual([]);
  });

  test("that changes nothing stores nothing", async () => {
    const before = await factNow();
    expect(await edit("true")).toMatchObject({ code: 0, stderr: "Nothing was changed in the editor.\n" });
    expect(await factNow()).toEqual(before);
  });

  test("that fails changes nothing, and leaves nothing", async () => {
    const { code, stderr } = await edit('sed -i s/Short/Brief/ "$1"; false');
    expect(code).toBe(1);
    expect(stderr).toContain("The editor failed; nothing was changed.");
    expect(await factNow()).toMatchObject({ value: "Short sentences." });
    expect(leftInMemory()).toEqual([]);
  });

  test("is not given a folder on a disk", async () => {
    await edit(noting, { XDG_RUNTIME_DIR: home.folder });
    expect(readFileSync(home.path("seen"), "utf8")).not.toContain(home.folder);
  });

  describe("with another process that writes while it is open", () => {
    /** An editor that shortens the text, and lets another process run a command the first time. */
    const beside = (command: string) =>
      `f() { [ -e ${home.path("once")} ] || { touch ${home.path("once")}; HOME=${home.folder} ${process.execPath} ${BUNDLED_COMMAND} ${command} >/dev/null 2>&1; }; sed -i s/Short/Brief/ "$1"; }; f`;
    const editBeside = (command: string, typed: string) =>
      runOnTerminal(["edit", "style"], {
        ...{ homeFolder: home.folder, typed },
        env: { PATH: process.env.PATH ?? "", EDITOR: beside(command) },
      });
    beforeEach(() => rmSync(home.path("once"), { force: true }));

    // verifies P-edit-seen
    test.each([
      ["stored a value", "store style Theirs.", "Stored now:\n      Theirs.\n", "Theirs."],
      ["forgot the fact", "forget style --yes", "Nothing is stored under this key now.\n", undefined],
    ])("that %s keeps that, and shows what was typed", async (_, command, told, value) => {
      const { code, stdout, stderr } = await editBeside(command, "n\n");
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toBe(
        `Nothing was stored: style was changed or forgotten meanwhile.\nYours:\n      Brief sentences.\n${told}Edit yours again? [y/N] `,
      );
      const { facts } = JSON.parse((await piped(["list", "--json"])).stdout);
      expect(facts.map((fact: { value: string }) => fact.value)).toEqual(value === undefined ? [] : [value]);
      expect(leftInMemory()).toEqual([]);
    });

    test.each(["store style Theirs.", "forget style --yes"])(
      "offers to edit again after %s, and begins with what was typed",
      async (command) => {
        const { code, stdout } = await editBeside(command, "y\n");
        expect(code).toBe(0);
        expect(stdout).toMatch(/^Stored style /);
        expect(await factNow()).toMatchObject({ value: "Brief sentences." });
      },
    );
  });

  test("is required if none is configured", async () => {
    const { code, stderr } = await edit(" ");
    expect(code).toBe(2);
    expect(stderr).toContain("VISUAL or EDITOR");
  });
});
