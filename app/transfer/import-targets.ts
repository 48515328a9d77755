/** The target memories of an import: the keys of each, and the import's effect on it. */

import type { KeyLooks } from "../../engine/facts/key-looks.ts";
import type {
  EntryMeta,
  KeysSince,
  MemoryStore,
  NewEntry,
  PutResult,
} from "../../engine/store/memory-store.ts";
import { type Namespace, type Subject, subjectOf } from "../../engine/store/namespace.ts";
import { readKeyLooks } from "../keys-in-use.ts";
import type { ImportFormat } from "./formats/names.ts";
import type { ImportedOwner } from "./import-counts.ts";
import { NoteNumbers } from "./note-numbers.ts";
import { countRemoved } from "./removed-notes.ts";
import { type RetiredKeys, readRetiredKeys } from "./retired-keys.ts";

/** One memory. Its keys are read before the first entry. */
export class ImportTarget {
  readonly namespace: Namespace;
  readonly retired: RetiredKeys;
  readonly numbers: NoteNumbers;
  readonly #looks: KeyLooks;
  /** A change number: the keys of all facts that were written until then are in `#looks`. */
  #readUpTo: number;
  /** For notes: the key prefixes of their files. */
  readonly #roots = new Set<string>();
  /** Keys of the imported facts. */
  readonly #keys = new Set<string>();
  /** Whether forgetting the import would remove something. */
  isMarked = false;

  private constructor(
    store: MemoryStore,
    namespace: Namespace,
    { looks, upTo }: { readonly looks: KeyLooks; readonly upTo: number },
    retired: RetiredKeys,
  ) {
    this.namespace = namespace;
    this.#looks = looks;
    this.#readUpTo = upTo;
    this.retired = retired;
    this.numbers = new NoteNumbers(store, namespace, retired);
  }

  static async of(store: MemoryStore, namespace: Namespace): Promise<ImportTarget> {
    const upTo = await store.revision(namespace);
    const looks = await readKeyLooks(store, namespace);
    return new ImportTarget(store, namespace, { looks, upTo }, await readRetiredKeys(store, namespace));
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
  wrote({ revision }: EntryMeta): void {
    this.#readUpTo = Math.max(this.#readUpTo, revision);
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
  readonly #targets = new Map<Namespace, ImportTarget>();
  readonly #owners = new Map<string, { readonly to: Subject; entries: number }>();

  constructor(store: MemoryStore) {
    this.#store = store;
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
    const target = await ImportTarget.of(this.#store, namespace);
    this.#targets.set(namespace, target);
    return target;
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
    for (const { entry } of results) this.#targets.get(entry.namespace)?.wrote(entry);
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
