import { readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withDrafts } from "../../app/keys/private-drafts.ts";
import { tempFolder } from "./fixtures/memories.ts";

test("the next backup removes the files of a killed one, but not files in use or of other programs", async () => {
  const folder = await tempFolder();
  const lies = async (name: string, daysOld: number) => {
    await writeFile(join(folder, name), "sealed");
    const then = new Date(Date.now() - daysOld * 86_400_000);
    await utimes(join(folder, name), then, then);
  };
  await lies(".mine.hdb.0123456789ab.copy", 2);
  await lies(".mine.hdb.0123456789ab.copy-wal", 2);
  await lies(".mine.hdb.fedcba987654.part", 0);
  await lies(".other.hdb.0123456789ab.copy", 2);
  await lies(".mine.hdb.notes", 2);
  await lies("mine.hdb", 2);
  await withDrafts(join(folder, "mine.hdb"), async (draft) => writeFile(draft("copy"), "now"));
  expect((await readdir(folder)).sort()).toEqual([
    ".mine.hdb.fedcba987654.part",
    ".mine.hdb.notes",
    ".other.hdb.0123456789ab.copy",
    "mine.hdb",
  ]);
});
