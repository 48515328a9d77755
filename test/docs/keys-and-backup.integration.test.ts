/** Runs the commands of docs/howto/keys-and-backup.md unchanged, in one shell. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { CommandHome } from "../cli/command.ts";
import { PastedShell } from "./bash-blocks.ts";

const GUIDE = await readFile(join(ROOT, "docs/howto/keys-and-backup.md"), "utf8");
/** Each block with its heading. */
const BLOCKS = GUIDE.split(/^## /m).flatMap((section) => {
  const [heading = ""] = section.split("\n");
  return [...section.matchAll(/^```bash\n(.*?)^```/gms)].map(([, script = ""]) => ({ heading, script }));
});

describe("the guide to keys and backups", () => {
  let home: CommandHome;
  let shell: PastedShell;
  beforeAll(async () => {
    home = new CommandHome();
    shell = new PastedShell({ cwd: home.folder, env: await home.putInPath() });
    expect(await home.run(["store", "deploy/konflux", "We deploy through Konflux"])).toMatchObject({
      code: 0,
    });
  });
  afterAll(() => {
    shell.close();
    home.remove();
  });

  test("has commands under each of its tasks", () => {
    expect(BLOCKS.length).toBeGreaterThanOrEqual(9);
  });

  test.each(BLOCKS)("$heading", async ({ script }) => {
    const said = await shell.run(script);
    if (script.includes("helmdeck-memory list")) expect(said).toContain("deploy/konflux");
  });

  // verifies P-backup-whole, P-backup-restored, P-key-change
  test("leaves all data readable with only the last key, and no traces of former keys", async () => {
    const last = { HELMDECK_MEMORY_KEY_COMMAND: JSON.stringify(["cat", home.path("key-copy")]) };
    expect(await home.run(["get", "deploy/konflux"], { env: last })).toMatchObject({
      code: 0,
      stdout: "We deploy through Konflux\n",
    });
    const doctor = JSON.parse((await home.run(["doctor", "--json"], { env: last })).stdout);
    expect(doctor.store).toMatchObject({ entries: 1, unreadable: 0, integrity: "ok" });
    expect(doctor.store.keys).not.toHaveProperty("former");
    expect(
      await home.run(["restore", home.path("backups/memory-new-key.backup"), "--dry-run"], { env: last }),
    ).toMatchObject({
      code: 0,
    });
    expect((await readdir(home.stateFolder)).sort()).toEqual([
      "helmdeck-memory",
      "helmdeck-memory.key.stores.json",
    ]);
    const beside = await readdir(join(home.stateFolder, "helmdeck-memory"));
    expect(beside.filter((name) => name.includes("restore"))).toEqual([]);
  });
});
