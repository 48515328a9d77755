/**
 * Finds the facts that are about the same thing as a new one, which may correct them.
 *
 * A store waits for this, so it leaves out what only a search's answer needs: the rest of the score, and the verdicts.
 */
import { ANSWER_LIMITS } from "../engine/answer-limits.ts";
import { defined } from "../engine/defined.ts";
import { Claim, type FactText } from "./claims.ts";
import { relationOf } from "./conflicts.ts";
import { textOfDocument } from "./lexical/indexed-document.ts";
import type { LexicalIndex } from "./lexical/lexical-index.ts";
import type { LexicalSearch } from "./lexical/lexical-search.ts";
import {
  bestPerDocument,
  nearestByChance,
  type PassageSimilarities,
  passageText,
  type RankedPassage,
} from "./scoring.ts";
import type { AlikeFact, AlikeWanted } from "./search-contract.ts";
import { type Topic, topicBySeparateWords } from "./topic.ts";
import { WEIGHTS } from "./weights.ts";

/** The best by words, and the best by meaning, of those that may be about the same thing. */
const LOOKED_AT = 50;

export interface AlikeQuery {
  readonly lexical: LexicalSearch;
  readonly index: LexicalIndex;
  /** The similarities to the new fact's value, if a model has read it. */
  readonly meant: PassageSimilarities | undefined;
  readonly now: number;
  readonly wanted: AlikeWanted;
}

/** Best first. Of a long value, its beginning is compared. */
export function alikeFacts(fact: FactText, query: AlikeQuery): readonly AlikeFact[] {
  const { index, meant, wanted } = query;
  const stem = (word: string): string => index.termOf(word);
  const topic = topicBySeparateWords(fact.value.slice(0, ANSWER_LIMITS.queryCharacters), stem);
  const claim = new Claim(fact, stem);
  let left = wanted.limit;
  const found: AlikeFact[] = [];
  for (const one of closest(topic, query)) {
    if (left === 0) break;
    const { document } = one;
    if (!wanted.isOther(document)) continue;
    const relation = relationOf(
      claim,
      new Claim({ key: document.key, value: passageText(one) }, stem),
      deviationsOf(one, meant),
    );
    if (relation === "none") continue;
    const text = textOfDocument(document).body;
    const isSame = text === fact.value;
    if (!isSame) left -= 1;
    const { key, updatedAt, writer } = document;
    found.push({ key, updatedAt, text, isSame, relation, ...defined({ writer }) });
  }
  return found;
}

/** By their share of the value's words, or by their meaning if that is nearer. */
function closest(topic: Topic, { lexical, index, meant, now }: AlikeQuery): readonly RankedPassage[] {
  const near = [...(meant?.nearness.keys() ?? [])].slice(0, LOOKED_AT);
  const shares = lexical.closest(topic, index, LOOKED_AT, near);
  const chance = nearestByChance(meant?.passages ?? 0);
  const ranked: RankedPassage[] = [];
  for (const [unit, share] of shares) {
    const [document, passage] = [index.documentOf(unit), index.passageOf(unit)];
    if (document === undefined || passage === undefined || document.expiresAt <= now) continue;
    const byWords = WEIGHTS.meaning.ofAllWords * share;
    const byMeaning = (deviationsOf({ unit, document }, meant) ?? 0) - chance;
    ranked.push({ unit, document, passage, score: Math.max(byWords, byMeaning) });
  }
  return bestPerDocument(ranked);
}

/** Undefined for a fact that the model has not read. */
function deviationsOf(
  { unit, document }: Pick<RankedPassage, "unit" | "document">,
  meant: PassageSimilarities | undefined,
): number | undefined {
  return meant?.knows?.(document) === false ? undefined : meant?.nearness.get(unit);
}
