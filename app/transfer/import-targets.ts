/** The target memories of an import: the keys of each, and the import's effect on it. */

import { importTag, isImportTag } from "../../engine/facts/import-tag.ts";
import type { KeyLooks } from "../../engine/facts/key-looks.ts";
import { pagesOf } from "../../engine/pages-of.ts";
import type {
  EntryMeta,
  KeysSince,
  MemoryStore,
  NewEntry,
  PutManyOptions,
  PutResult,
  Revision,
} from "../../engine/store/memory-store.ts";
import { type Namespace, type Subject, subjectOf } from "../../engine/store/namespace.ts";
import { readKeyLooks } from "../keys-in-use.ts";
import type { ImportFormat } from "./formats/names.ts";
import type { ImportedOwner, ShownUpTo } from "./import-counts.ts";
import { type KnownFact, KnownFacts } from "./known-facts.ts";
import { NoteNumbers, type RetiredKeys, readRetiredKeys } from "./note-numbers.ts";

/** One memory. Its keys are read before the first entry. */
export class ImportTarget {
  readonly namespace: Namespace;
  readonly retired: RetiredKeys;
  readonly numbers: NoteNumbers;
  /** Facts that were written later, by somebody else, are not replaced. */
  readonly shownUpTo: Revision;
  readonly #store: MemoryStore;
  readonly #looks: KeyLooks;
  #known: Promise<KnownFacts> | undefined;
  /** A change number: the keys of all facts that were written until then are in `#looks`. */
  #readUpTo: number;
  /** For notes: the key prefixes of their files. */
  readonly #roots = new Set<string>();
  /** Keys of the imported facts. */
  readonly #keys = new Set<string>();
  /** The change numbers of what this import wrote. */
  readonly #own = new Map<string, Revision>();
  /** Whether forgetting the import would remove something. */
  isMarked = false;

  private constructor(
    store: MemoryStore,
    namespace: Namespace,
    {
      looks,
      upTo,
      shownUpTo,
    }: { readonly looks: KeyLooks; readonly upTo: Revision; readonly shownUpTo: Revision },
    retired: RetiredKeys,
  ) {
    this.#store = store;
    this.namespace = namespace;
    this.shownUpTo = shownUpTo;
    this.#looks = looks;
    this.#readUpTo = upTo;
    this.retired = retired;
    this.numbers = new NoteNumbers(store, namespace, retired);
  }

  /** `shownUpTo`: of a preview. */
  static async of(store: MemoryStore, namespace: Namespace, shownUpTo?: Revision): Promise<ImportTarget> {
    const upTo = await store.revision(namespace);
    const read = { looks: await readKeyLooks(store, namespace), upTo, shownUpTo: shownUpTo ?? upTo };
    return new ImportTarget(store, namespace, read, await readRetiredKeys(store, namespace));
  }

  requireOwnLook(key: string): void {
    this.#looks.refuseLookalike(key);
    this.#looks.add(key);
  }

  /** Throws `invalid_input` for a key that somebody else wrote meanwhile, and that looks like one of this import. */
  get keysSince(): KeysSince {
    return {
      revision: this.#readUpTo,
      judge: (keys) => {
        for (const key of keys) this.requireOwnLook(key);
      },
    };
  }

  /** By the transaction that judged the keys before. */
  wrote({ entry: { key, revision }, kept }: PutResult): void {
    this.#readUpTo = Math.max(this.#readUpTo, revision);
    if (kept !== true) this.#own.set(key, revision);
  }

  /** Somebody else wrote it since the preview, or since the import began. */
  isUnseen({ key, revision }: Pick<EntryMeta, "key" | "revision">): boolean {
    return revision > this.shownUpTo && this.#own.get(key) !== revision;
  }

  /** What memory had when the import began or was shown, but for what is in the import itself. */
  async knownOf({ key, value }: Pick<NewEntry, "key" | "value">): Promise<readonly KnownFact[]> {
    this.#known ??= KnownFacts.of(this.#store, this.namespace, this.shownUpTo);
    const known = (await this.#known).find({ key, value: Buffer.from(value).toString() });
    return known.filter((one) => !this.hasSeen(one.key));
  }

  hasSeen(key: string): boolean {
    return this.#keys.has(key);
  }

  seen({ origin, key }: NewEntry, root?: string): void {
    if (root !== undefined) this.#roots.add(root);
    if (origin === "fact") this.#keys.add(key);
  }

  get hasNotes(): boolean {
    return this.#roots.size > 0;
  }

  countRemoved(store: MemoryStore, format: ImportFormat): Promise<number> {
    return countRemoved(store, { namespace: this.namespace, format, roots: this.#roots, keys: this.#keys });
  }
}

/** All targets of one import, the importing subject first. */
export class ImportTargets {
  readonly #store: MemoryStore;
  readonly #shown: ShownUpTo | undefined;
  readonly #targets = new Map<Namespace, ImportTarget>();
  readonly #owners = new Map<string, { readonly to: Subject; entries: number }>();

  constructor(store: MemoryStore, shown?: ShownUpTo) {
    this.#store = store;
    this.#shown = shown;
  }

  get all(): readonly ImportTarget[] {
    return [...this.#targets.values()];
  }

  get owners(): readonly ImportedOwner[] {
    return [...this.#owners].map(([from, counted]) => ({ from, ...counted }));
  }

  async of(namespace: Namespace): Promise<ImportTarget> {
    const known = this.#targets.get(namespace);
    if (known !== undefined) return known;
    const target = await ImportTarget.of(this.#store, namespace, this.#shown?.get(namespace));
    this.#targets.set(namespace, target);
    return target;
  }

  isUnseen(there: EntryMeta): boolean {
    return this.#targets.get(there.namespace)?.isUnseen(there) === true;
  }

  keysSince(entries: readonly NewEntry[]): ReadonlyMap<Namespace, KeysSince> {
    const written = new Set(entries.map(({ namespace }) => namespace));
    return new Map(
      this.all
        .filter(({ namespace }) => written.has(namespace))
        .map((target) => [target.namespace, target.keysSince]),
    );
  }

  wrote(results: readonly PutResult[]): void {
    for (const result of results) this.#targets.get(result.entry.namespace)?.wrote(result);
  }

  mark(namespace: Namespace): void {
    const target = this.#targets.get(namespace);
    if (target !== undefined) target.isMarked = true;
  }

  countOf(from: string | undefined, { namespace }: NewEntry): void {
    if (from === undefined) return;
    const counted = this.#owners.get(from) ?? { to: subjectOf(namespace), entries: 0 };
    counted.entries += 1;
    this.#owners.set(from, counted);
  }
}

const BATCH_ENTRIES = 250;
const BATCH_BYTES = 1_024 * 1_024;

type BatchRules = Pick<PutManyOptions, "onConflict" | "keeps">;

/** Writes imported entries in batches: each batch is one transaction, which blocks others. */
export class ImportBatch {
  readonly #store: MemoryStore;
  readonly #targets: ImportTargets;
  readonly #rules: BatchRules;
  readonly #onPut: (results: readonly PutResult[]) => void;
  #entries: NewEntry[] = [];
  #sizeBytes = 0;

  constructor(
    { store, targets }: { readonly store: MemoryStore; readonly targets: ImportTargets },
    rules: BatchRules,
    onPut: (results: readonly PutResult[]) => void,
  ) {
    this.#store = store;
    this.#targets = targets;
    this.#rules = rules;
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
    const results = await this.#store.putMany(entries, { ...this.#rules, keysSince });
    this.#targets.wrote(results);
    this.#onPut(results);
  }
}

const PAGE_KEYS = 1_000;

interface SeenNotes {
  readonly namespace: Namespace;
  readonly format: ImportFormat;
  /** The key prefixes of the files; for "", only imports of the same format count. */
  readonly roots: ReadonlySet<string>;
  readonly keys: ReadonlySet<string>;
}

/**
 * Finds facts of earlier imports that are no longer in their files.
 *
 * Counts unchanged imported facts below these roots that are not among these keys.
 */
async function countRemoved(
  store: MemoryStore,
  { namespace, format, roots, keys }: SeenNotes,
): Promise<number> {
  let gone = 0;
  for (const root of roots) {
    const isOfThese = (tag: string) =>
      root === "" ? tag.startsWith(importTag(`${format}-`)) : isImportTag(tag);
    const below = root === "" ? {} : { prefix: `${root}/` };
    const query = { namespace, origin: "fact", ...below, limit: PAGE_KEYS } as const;
    for await (const { entries } of pagesOf((more) => store.listMeta({ ...query, ...more })))
      gone += entries.filter(({ key, tags }) => tags.some(isOfThese) && !keys.has(key)).length;
  }
  return gone;
}
