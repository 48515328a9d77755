/** The notes beside the key file, when several processes change them at once. */
import { readdir, utimes, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { noteCopy, noteSavedKey, noteStore, notesPathOf, readNotes } from "../../app/keys/store-notes.ts";
import { tempPlace } from "./fixtures/memories.ts";

test("changes at the same time are all kept", async () => {
  const { keyPath, databasePath: path } = await tempPlace();
  const names = Array.from({ length: 20 }, (_, at) => `${at}`);
  await Promise.all([
    ...names.map((storeId) => noteStore(keyPath, { storeId, generation: 1, path })),
    ...names.map((id) => noteSavedKey(keyPath, id, "2026-11-20T00:00:00Z")),
    ...names.map((_, generation) => noteStore(keyPath, { storeId: "one", generation, path })),
  ]);
  const { stores, saved_keys } = await readNotes(keyPath);
  expect(Object.keys(stores).sort()).toEqual([...names, "one"].sort());
  expect(stores.one?.generation).toBe(19);
  expect(Object.keys(saved_keys).sort()).toEqual([...names].sort());
  const left = (await readdir(dirname(keyPath))).filter((file) => /\.(lock|tmp)$/.test(file));
  expect(left).toEqual([]);
});

test("the lock of a killed process does not stop a change", async () => {
  const { keyPath } = await tempPlace();
  const lock = `${notesPathOf(keyPath)}.lock`;
  await noteSavedKey(keyPath, "a", "2026-11-20T00:00:00Z");
  await writeFile(lock, "");
  await utimes(lock, 1, 1);
  await noteSavedKey(keyPath, "b", "2026-11-20T00:00:00Z");
  expect(Object.keys((await readNotes(keyPath)).saved_keys)).toEqual(["a", "b"]);
});

test("the newest copies are kept, one for each path, and older notes have none", async () => {
  const { keyPath } = await tempPlace();
  await noteSavedKey(keyPath, "a", "2026-11-20T00:00:00Z");
  expect((await readNotes(keyPath)).copies).toBeUndefined();
  const at = "2026-11-20T00:00:00Z";
  for (const path of ["/0", "/again", ...Array.from({ length: 199 }, (_, at) => `/${at + 1}`), "/again"])
    await noteCopy(keyPath, { kind: "backup", path, at });
  const paths = (await readNotes(keyPath)).copies?.map(({ path }) => path) ?? [];
  expect([paths.length, paths[0], paths.at(-1)]).toEqual([200, "/1", "/again"]);
});
