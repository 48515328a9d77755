/** What an import does with a fact that memory has under another key, or that contradicts one that is there. */
import { cutText } from "../../engine/projections/frame.ts";
import { HISTORY_LIMITS } from "../../engine/rules/history.ts";
import type { NewEntry } from "../../engine/store/memory-store.ts";
import type { KnownRule } from "./formats/names.ts";
import type { KnownPair } from "./import-counts.ts";
import type { ImportTarget } from "./import-targets.ts";

const SHOWN_CHARACTERS = 400;
const WHY_LEFT_OUT = {
  same: "known under another key",
  contradict: "contradicting what memory has",
} as const;

/** `supersedes`: the keys of the facts that become its history. */
type Settled = { readonly supersedes: readonly string[] } | { readonly leftOut: string };

export class KnownFactsRule {
  readonly #rule: KnownRule;
  readonly #isDryRun: boolean;
  readonly #pairs: KnownPair[] = [];

  constructor(rule: KnownRule, isDryRun: boolean) {
    this.#rule = rule;
    this.#isDryRun = isDryRun;
  }

  /** False: each fact is stored beside what memory knows. A dry run looks all the same, to show it. */
  get looks(): boolean {
    return this.#isDryRun || this.#rule !== "both";
  }

  /** Of a dry run: what it found, in the order of the files. */
  get pairs(): readonly KnownPair[] {
    return this.#pairs;
  }

  /**
   * What memory knows from a later time, or holds pinned, is not superseded: then a new fact is left out. A line with a history
   * supersedes nothing, since its own history would be lost.
   */
  async settle(target: ImportTarget, fact: NewEntry, isNew: boolean): Promise<Settled> {
    if (!this.looks) return { supersedes: [] };
    const { key, value, updatedAt = Number.POSITIVE_INFINITY, history } = fact;
    const found = await target.knownOf({ key, value });
    if (this.#isDryRun)
      this.#pairs.push(...found.map((known) => ({ fact: { key, value: beginningOf(value) }, known })));
    const known = found.filter(({ relation }) => relation !== "near");
    const [first] = known;
    if (first === undefined || first.relation === "near" || this.#rule === "both") return { supersedes: [] };
    const yields =
      this.#rule === "skip" || known.some((other) => other.isPinned || other.updatedAt > updatedAt);
    if (yields && isNew) return { leftOut: WHY_LEFT_OUT[first.relation] };
    if (yields || history !== undefined) return { supersedes: [] };
    return { supersedes: known.slice(0, HISTORY_LIMITS.superseded).map((other) => other.key) };
  }
}

export function beginningOf(value: Uint8Array): string {
  return cutText(Buffer.from(value).toString(), SHOWN_CHARACTERS);
}
