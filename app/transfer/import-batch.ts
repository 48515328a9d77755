/** Writes imported entries in batches: each batch is one transaction, which blocks others. */
import type { ConflictRule, MemoryStore, NewEntry, PutResult } from "../../engine/store/memory-store.ts";
import type { ImportTargets } from "./import-targets.ts";

const BATCH_ENTRIES = 250;
const BATCH_BYTES = 1_024 * 1_024;

export class ImportBatch {
  readonly #store: MemoryStore;
  readonly #targets: ImportTargets;
  readonly #rule: ConflictRule;
  readonly #onPut: (results: readonly PutResult[]) => void;
  #entries: NewEntry[] = [];
  #sizeBytes = 0;

  constructor(
    { store, targets }: { readonly store: MemoryStore; readonly targets: ImportTargets },
    rule: ConflictRule,
    onPut: (results: readonly PutResult[]) => void,
  ) {
    this.#store = store;
    this.#targets = targets;
    this.#rule = rule;
    this.#onPut = onPut;
  }

  async push(entry: NewEntry): Promise<void> {
    this.#entries.push(entry);
    this.#sizeBytes += entry.value.byteLength;
    if (this.#entries.length >= BATCH_ENTRIES || this.#sizeBytes >= BATCH_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    const entries = this.#entries;
    this.#entries = [];
    this.#sizeBytes = 0;
    if (entries.length === 0) return;
    const keysSince = this.#targets.keysSince(entries);
    const results = await this.#store.putMany(entries, { onConflict: this.#rule, keysSince });
    this.#targets.wrote(results);
    this.#onPut(results);
  }
}
