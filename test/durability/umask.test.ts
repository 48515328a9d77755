/** With any umask, only the owner can access key, database and related files, and the owner can use them. */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Child, spawnChild } from "../engine/store/processes.ts";
import { bundledScript } from "../run/bundles.ts";
import { childOf, DRIVERS, makeQuickFolder } from "./place.ts";

const UMASKS = ["000", "022", "077", "277", "777"];

let folder: string;
beforeEach(async () => {
  folder = await makeQuickFolder();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

// verifies P-disk-owner-only
describe.each(DRIVERS)("with $name,", (driver) => {
  test.each(UMASKS)("under umask %s files are 0600 and folders 0700", async (umask) => {
    const under = ["sh", "-c", `umask ${umask} && exec "$@"`, "sh"];
    const script = await bundledScript(childOf("hold-open"));
    const child: Child = spawnChild(script, [driver.name, folder], { under });
    expect(await child.next()).toEqual({ done: true });
    const modes = await modesIn(folder);
    child.say("end\n");
    await child.ended();
    expect(modes).toEqual({
      data: "700",
      "data/memory.sqlite": "600",
      "data/memory.sqlite-shm": "600",
      "data/memory.sqlite-wal": "600",
      key: "700",
      "key/memory.key": "600",
    });
  });
});

async function modesIn(root: string): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(root, { recursive: true })).sort();
  const modes = names.map(async (name) => [name, ((await stat(join(root, name))).mode & 0o777).toString(8)]);
  return Object.fromEntries(await Promise.all(modes));
}
