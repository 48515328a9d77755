/** The target memories of an import: the keys of each, and the import's effect on it. */
import {
  type KeyLooks,
  type MemoryStore,
  type Namespace,
  type NewEntry,
  type Subject,
  subjectOf,
} from "../../engine/index.ts";
import { readKeyLooks } from "../keys-in-use.ts";
import type { ImportFormat } from "./formats/names.ts";
import type { ImportedOwner } from "./import-counts.ts";
import { countRemoved } from "./removed-notes.ts";
import { readRetiredKeys } from "./retired-keys.ts";

/** One memory. Its keys are read before the first entry. */
export class ImportTarget {
  readonly namespace: Namespace;
  readonly retired: Awaited<ReturnType<typeof readRetiredKeys>>;
  readonly #looks: KeyLooks;
  /** For notes: the key prefixes of their files. */
  readonly #roots = new Set<string>();
  /** Keys of the imported facts. */
  readonly #keys = new Set<string>();
  /** Whether forgetting the import would remove something. */
  isMarked = false;

  private constructor(namespace: Namespace, looks: KeyLooks, retired: ImportTarget["retired"]) {
    this.namespace = namespace;
    this.#looks = looks;
    this.retired = retired;
  }

  static async of(store: MemoryStore, namespace: Namespace): Promise<ImportTarget> {
    const looks = await readKeyLooks(store, namespace);
    return new ImportTarget(namespace, looks, await readRetiredKeys(store, namespace));
  }

  requireOwnLook(key: string): void {
    this.#looks.refuseLookalike(key);
    this.#looks.add(key);
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
