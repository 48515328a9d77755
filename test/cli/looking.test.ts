/** Read-only commands change nothing: another program's database stays byte for byte the same, and nothing is created. */
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { expectUntouched, LEFT } from "./foreign-databases.ts";
import { InProcessHome } from "./in-process.ts";

const home = InProcessHome.forEachTest();

// verifies P-look-changes-nothing
describe.each(Object.entries(LEFT))("another program's database %s", (_, make) => {
  test("is unchanged by every command, and no key is created for it", async () => {
    await home.write("facts.jsonl", '{"key":"k","value":"v"}\n');
    await expectUntouched(make, home.path("theirs"), (args) => home.run(args));
    expect(existsSync(home.keyPath)).toBe(false);
  });
});

const LOOKS = [
  ...["status", "list", "get tea", "search tea", "history tea", "export", "imports", "doctor"],
  ...["forget everything --dry-run", "import facts.jsonl --dry-run"],
];
/** There is nothing that they could change. */
const CHANGES = [
  ...["undo tea", "renew tea", "renew --all", "edit tea oolong", "forget tea --yes", "forget all --yes"],
  ...["forget import:x-1 --everyone --yes", "embed"],
];
const fact = '{"key":"k","value":"v"}\n';

// verifies P-look-changes-nothing
describe("where nothing was stored yet", () => {
  test.each([...LOOKS, ...CHANGES])("%s creates nothing and says so", async (command) => {
    await home.write("facts.jsonl", fact);
    const { stdout, stderr } = await home.run(command.split(" "));
    expect(`${stdout}${stderr}`).toMatch(/no memory at/);
    expect(existsSync(home.stateFolder)).toBe(false);
  });

  test.each([...LOOKS, ...CHANGES])("but there is a key, %s creates no database", async (command) => {
    await home.write("facts.jsonl", fact);
    await mkdir(home.stateFolder);
    await writeFile(home.keyPath, "5a".repeat(32), { mode: 0o600 });
    await home.run(command.split(" "));
    expect(existsSync(dirname(home.databasePath))).toBe(false);
  });

  test("status says that there is no memory yet", async () => {
    expect(await home.run(["status"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("none yet"),
    });
    const { stdout } = await home.run(["status", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ state: "none", database_path: home.databasePath });
  });
});

// verifies P-quiet-packs
describe("a memory that is gone while its key remains", () => {
  beforeEach(async () => {
    await home.run(["store", "tea", "oolong"]);
  });

  test("with its folder is not replaced by a new one until somebody creates the folder", async () => {
    const folder = dirname(home.databasePath);
    await rm(folder, { recursive: true });
    for (const args of [["list"], ["status"], ["doctor"], ["store", "tea", "sencha"], ["mcp"]]) {
      const { code, stdout, stderr } = await home.run(args);
      expect([code, args[0]]).toEqual([args[0] === "mcp" ? 0 : 1, args[0]]);
      expect(`${stdout}${stderr}`).toContain(`The folder ${folder} is gone`);
    }
    expect(existsSync(folder)).toBe(false);
    await mkdir(folder);
    const stored = await home.run(["store", "tea", "sencha"]);
    expect(stored).toMatchObject({ code: 0, stderr: expect.stringContaining("opened there before") });
  });

  test("is replaced by a new one, with a word, and doctor says so later", async () => {
    await rm(home.databasePath);
    expect((await home.run(["list"])).stderr).toContain("opened there before");
    expect(existsSync(home.databasePath)).toBe(false);
    const stored = await home.run(["store", "tea", "sencha"]);
    expect(stored).toMatchObject({ code: 0, stderr: expect.stringContaining("opened there before") });
    expect((await home.run(["store", "tea", "sencha"])).stderr).not.toContain("opened there before");
    expect((await home.run(["doctor"])).stdout).toContain("Another memory was opened");
  });
});
