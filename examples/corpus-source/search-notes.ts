/** A corpus source: recall over your own texts, here the Markdown files of a folder. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { type CorpusSource, createRecall, entryOf, namespaceOf } from "helmdeck-memory";

const [folder = import.meta.dirname, query = "how do I run it"] = process.argv.slice(2);

/** Recall asks for changes since a cursor. These files do not change during the search, so the first page has all of them. */
const notes: CorpusSource = {
  async changes(_namespace, since) {
    const upserts = since > 0 ? [] : await readNotes();
    return { kind: "changes", upserts, removed: [], cursor: 1, more: false };
  },
};

async function readNotes() {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".md"));
  return Promise.all(
    files.map(async (name) => {
      const file = join(folder, name);
      const { mtimeMs } = await stat(file);
      const text = await readFile(file, "utf8");
      return entryOf({ key: name, text, category: "notes", updatedAt: Math.floor(mtimeMs) });
    }),
  );
}

const recall = createRecall({ source: notes, now: Date.now });
const { results } = await recall.search(namespaceOf("notes"), { query });
for (const { key } of results) console.log(`found ${key}`);
recall.close();
