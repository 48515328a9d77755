/** Importing helmdeck's database: the same result for one created from its description and one that helmdeck created. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CommandHome } from "../cli/command.ts";
import { madeByHelmdeck, madeByUs, type Source } from "./helmdeck-database.ts";

const BINARY = process.env.HELMDECK_BIN;

let home: CommandHome;
beforeEach(() => {
  home = new CommandHome();
  mkdirSync(home.path("tmp"));
});
afterEach(() => home.remove());

const importing = ({ path, keyFile }: Source, ...more: readonly string[]) =>
  home.run(["import", "--from", "helmdeck", path, "--key-file", keyFile, "--yes", "--json", ...more], {
    env: { TMPDIR: home.path("tmp") },
  });
const factsOf = async (caller: string): Promise<Record<string, string>> => {
  const { facts } = JSON.parse((await home.run(["list", "--json", "--caller", caller])).stdout);
  return Object.fromEntries(facts.map(({ key, value }: Record<string, string>) => [key, value]));
};
const stateOf = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.startsWith("helmdeck."))
    .map((name) => {
      const { mtimeNs, ino, mode } = statSync(join(folder, name), { bigint: true });
      const hash = createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex");
      return [name, hash, mtimeNs, ino, mode];
    });

describe.each([
  { by: "us, from the description", make: madeByUs, isLeftOut: false },
  {
    by: "helmdeck itself (HELMDECK_BIN names its control-plane; without it this is left out)",
    make: (folder: string) => madeByHelmdeck(folder, BINARY ?? ""),
    isLeftOut: BINARY === undefined,
  },
])("a database that was made by $by", ({ make, isLeftOut }) => {
  // verifies P-import-source
  test.skipIf(isLeftOut)(
    "is imported for its callers' agents, with the same result twice, and can be forgotten",
    async () => {
      const source = await make(home.folder);
      const before = stateOf(dirname(source.path));
      const facts = (caller: string) => source.facts[caller] ?? {};
      const first = JSON.parse((await importing(source)).stdout);
      expect(first).toMatchObject({
        stored: 3,
        replaced: 0,
        kept: 0,
        refused: [],
        takers: ["main", "admin"],
      });
      expect(first.audit).toBeGreaterThanOrEqual(source.runs);
      expect([...first.owners].map(({ from, to }) => `${from} → ${to}`).sort()).toEqual([
        "admin → admin",
        "openclaw-configure → main",
      ]);
      expect(await factsOf("main")).toEqual(facts("openclaw-configure"));
      expect(await factsOf("admin")).toEqual(facts("admin"));

      const again = JSON.parse((await importing(source)).stdout);
      expect(again).toMatchObject({ stored: 0, refreshed: 3, replaced: 0, kept: 0, audit: first.audit });
      expect(again.import).toBeUndefined();
      expect(JSON.parse((await home.run(["imports", "--json"])).stdout)).toEqual({
        imports: [{ id: first.import, facts: 2, former: 0, records: first.audit }],
      });
      expect(stateOf(dirname(source.path))).toEqual(before);
      expect(readdirSync(home.path("tmp"))).toEqual([]);

      await home.run(["forget", `import:${first.import}`, "--everyone", "--yes"]);
      for (const caller of ["main", "admin"]) {
        expect(await factsOf(caller)).toEqual({});
        expect((await home.run(["export", "--caller", caller])).stdout).toBe("");
      }
    },
  );

  // verifies P-import-source
  test.skipIf(isLeftOut)("without its log is refused", async () => {
    const source = await make(home.folder);
    rmSync(`${source.path}-wal`);
    rmSync(`${source.path}-shm`, { force: true });
    const refused = await importing(source);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(JSON.parse(refused.stderr)).toMatchObject({
      error: "invalid_input",
      message: expect.stringMatching(
        /There is no log .*pass --stopped\. .* recently forgotten facts return\.$/,
      ),
    });
    expect(await factsOf("main")).toEqual({});
  });

  test.skipIf(isLeftOut)("is unchanged, without a copy left, when the key is wrong", async () => {
    const source = await make(home.folder);
    const before = stateOf(dirname(source.path));
    await home.write("other.key", "ab".repeat(32));
    const { code, stderr } = await importing({ ...source, keyFile: home.path("other.key") });
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({
      error: "key_wrong",
      message: expect.stringContaining("opens none of"),
    });
    expect(stderr).not.toContain("abab");
    expect(stateOf(dirname(source.path))).toEqual(before);
    expect(readdirSync(home.path("tmp"))).toEqual([]);
  });
});
