/**
 * What a memory knows of a fact that is about to be imported: the same under another key, what contradicts it, what is near.
 *
 * Judged by the texts and keys alone. Facts with the same words are found by a digest. For the other relations, a fact is compared
 * with the closest by words, as a search finds them, so that each takes about the same time in a memory of any size.
 */
import { isPinned } from "../../engine/facts/marks.ts";
import { pagesOf } from "../../engine/pages-of.ts";
import { projectEntry } from "../../engine/projections/chunks.ts";
import { cutText } from "../../engine/projections/frame.ts";
import type { Entry, EntryId, MemoryStore, Revision, UnixMs } from "../../engine/store/memory-store.ts";
import type { Namespace } from "../../engine/store/namespace.ts";
import type { Claim, FactText } from "../../recall/claims.ts";
import { type Relation, relationOf } from "../../recall/conflicts.ts";
import { LexicalIndex } from "../../recall/lexical/lexical-index.ts";
import { LexicalSearch } from "../../recall/lexical/lexical-search.ts";
import { WEIGHTS } from "../../recall/weights.ts";
import { claimOf, digestOfText } from "../same-text.ts";

export interface KnownFact {
  readonly relation: "same" | "contradict" | "near";
  readonly key: string;
  /** Its beginning. */
  readonly value: string;
  readonly updatedAt: UnixMs;
  readonly isPinned: boolean;
}

/** `claim`: absent for a long text, which is a document rather than a claim, and for the oldest facts of a very large memory. */
interface Shown extends FactText, Pick<KnownFact, "updatedAt" | "isPinned"> {
  readonly claim?: Claim;
}

type Compared = Required<Shown>;

const PAGE_FACTS = 250;
const MOST_COMPARED = 20_000;
/** Facts that a new one is compared with. */
const MOST_CLOSE = 12;
const SHOWN_CHARACTERS = 400;
const MOST_NEAR = 3;
const ORDER = ["same", "contradict", "near"] as const;

export class KnownFacts {
  readonly #bySaying = new Map<string, Shown[]>();
  readonly #compared = new Map<EntryId, Compared>();
  readonly #index = new LexicalIndex();
  readonly #search = new LexicalSearch();

  private constructor() {}

  /** Of the facts that were not written after `upTo`, a page at a time. */
  static async of(store: MemoryStore, namespace: Namespace, upTo: Revision): Promise<KnownFacts> {
    const known = new KnownFacts();
    const query = { namespace, origin: "fact", limit: PAGE_FACTS } as const;
    for await (const { entries } of pagesOf((more) => store.list({ ...query, ...more })))
      for (const entry of entries) if (entry.revision <= upTo) known.#add(entry);
    return known;
  }

  /** Of facts with other keys: the same ones first, and only the nearest of those that are merely near. */
  find(fact: FactText): readonly KnownFact[] {
    const claim = this.#claimOf(fact);
    const relations = new Map<Shown, KnownFact["relation"] | undefined>();
    if (claim !== undefined)
      for (const [unit, inCommon] of this.#search.closest(claim.around, this.#index, MOST_CLOSE, [])) {
        const id = this.#index.documentOf(unit)?.id;
        const other = id && this.#compared.get(id);
        if (other === undefined) continue;
        const relation = seenAs(relationOf(claim, other.claim));
        if (relation !== "near" || inCommon >= WEIGHTS.conflicts.near) relations.set(other, relation);
      }
    for (const other of this.#bySaying.get(digestOfText(fact.value)) ?? [])
      if (isSelfContained(claim, other)) relations.set(other, "same");
    const found = [...relations].filter(([{ key }]) => key !== fact.key);
    const those = ORDER.map((relation) => found.filter((one) => one[1] === relation).map(([one]) => one));
    return those.flatMap((others, place) => {
      const relation = ORDER[place];
      if (relation === undefined) return [];
      const shown = relation === "near" ? others.slice(0, MOST_NEAR) : others;
      return shown.map(({ claim: _, ...one }) => ({ relation, ...one }));
    });
  }

  #add(entry: Entry): void {
    const { id, key, updatedAt, tags } = entry;
    const value = Buffer.from(entry.value).toString();
    const claim = this.#compared.size < MOST_COMPARED ? this.#claimOf({ key, value }) : undefined;
    const shown = { key, value: cutText(value, SHOWN_CHARACTERS), updatedAt, isPinned: isPinned({ tags }) };
    const fact = claim && { ...shown, claim };
    append(this.#bySaying, digestOfText(value), fact ?? shown);
    const projected = fact && projectEntry(entry);
    if (fact === undefined || projected?.kind !== "chunk") return;
    this.#index.add(projected.entry);
    this.#compared.set(id, fact);
  }

  #claimOf(fact: FactText): Claim | undefined {
    return claimOf(fact, (word) => this.#index.termOf(word));
  }
}

function append<Item>(lists: Map<string, Item[]>, name: string, item: Item): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [item]);
  else list.push(item);
}

/** The same in other words is only near: what is left out, or becomes history, must say the very same. */
function seenAs(relation: Relation): KnownFact["relation"] | undefined {
  if (relation === "none") return undefined;
  return relation === "contradict" ? relation : "near";
}

/** "vim" alone says something else for an editor than for a viewer: then the keys must be about the same thing, too. */
function isSelfContained(claim: Claim | undefined, other: Shown): boolean {
  if (claim === undefined || other.claim === undefined) return true;
  if (claim.topic.length + claim.values.size > 1) return true;
  const own = new Set(claim.topic.flatMap(({ terms }) => terms));
  const around = new Set(other.claim.around.flatMap(({ terms }) => terms));
  return claim.around.some(({ terms }) => terms.some((term) => !own.has(term) && around.has(term)));
}
