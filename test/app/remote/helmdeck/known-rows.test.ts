/** Answers of a running helmdeck enter the cache in the order of the questions, however long each takes to be written. */
import { expect, test, vi } from "vitest";
import { KnownRows } from "../../../../app/remote/helmdeck/known-rows.ts";
import { namespaceOf } from "../../../../engine/store/namespace.ts";
import { openStoreInMemory } from "../../../../engine/store/sqlite/open-in-memory.ts";

const ANA = namespaceOf("ana");

function chunk(value: string) {
  const snippet = `## office\n\n${value}\n\n(category: work)`;
  return { docid: "work/office", file: "facts/office", collection: "helmdeck-work", snippet };
}

test("a slow write of an older answer does not undo a newer one", async () => {
  const store = await openStoreInMemory();
  const answers = [[chunk("Our office is in Lime Street")], [chunk("Our office is in Harbour Road")]];
  const query = async () => answers.shift() ?? [];
  const rest = { call: () => Promise.reject(new Error("not asked")) };
  const rows = new KnownRows({
    ...{ agent: "ana", namespace: ANA, store, qmd: { query }, rest, now: () => 0 },
  });
  const release = Promise.withResolvers<void>();
  const putMany = store.putMany.bind(store);
  vi.spyOn(store, "putMany").mockImplementationOnce(async (entries) => {
    await release.promise;
    return putMany(entries);
  });
  const older = rows.lookFor("office");
  const newer = rows.lookFor("office");
  await new Promise((resolve) => setImmediate(resolve));
  release.resolve();
  await Promise.all([older, newer]);
  const entry = await store.get({ namespace: ANA, origin: "fact", key: "office" });
  expect(Buffer.from(entry?.value ?? []).toString()).toBe("Our office is in Harbour Road");
});
