/** The embedded engine as recall's corpus: a namespace's documents, with the store's change cursor. */

import { projectEntry } from "../engine/projections/chunks.ts";
import type { Entry, EntryId, MemoryReader } from "../engine/store/memory-store.ts";
import type { Writer } from "../engine/store/writer.ts";
import type { CorpusChanges, CorpusSource } from "../recall/search-contract.ts";

/** Entries without a document (unreadable, damaged) count as removed, so that no stale one is found. */
export function recallOverStore(reader: MemoryReader): CorpusSource {
  const shared = shareWriters();
  return {
    async changes(namespace, since, limit): Promise<CorpusChanges> {
      const changes = await reader.changes({ namespace, since, limit });
      if (changes.kind === "start_over") return changes;
      const { upserts, removed, unreadable, cursor, more } = changes;
      const projected = upserts.map((entry) => ({ id: entry.id, projection: projectEntry(shared(entry)) }));
      const hidden: EntryId[] = projected.flatMap(({ id, projection }) =>
        projection.kind === "chunk" ? [] : [id],
      );
      return {
        kind: "changes",
        upserts: projected.flatMap(({ projection }) =>
          projection.kind === "chunk" ? [projection.entry] : [],
        ),
        removed: [...removed, ...hidden, ...unreadable.map(({ id }) => id)],
        cursor,
        more,
      };
    },
  };
}

/** Few writers write many entries, so the index shares their objects. */
function shareWriters(): (entry: Entry) => Entry {
  const writers = new Map<string, Writer>();
  return (entry) => {
    if (entry.writer === undefined) return entry;
    const name = JSON.stringify(entry.writer);
    const writer = writers.get(name) ?? entry.writer;
    writers.set(name, writer);
    return { ...entry, writer };
  };
}
