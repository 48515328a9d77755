/**
 * Whether two facts are about the same thing, such as "the standup is at 9:30" and "standup moved to 10:00".
 *
 * Judged by the two texts alone, so the answer stays the same as a memory grows: by their common words, the first of which usually
 * names what a fact is about, or by a model that has read both.
 */
import { CONTENT_WORD, commonnessOf } from "./analysis/commonness.ts";
import { otherTermOf, termOf } from "./analysis/english.ts";
import { wordsOf } from "./analysis/words.ts";
import { synonymsOf } from "./lexical/synonyms.ts";
import { WEIGHTS } from "./weights.ts";

interface TopicWord {
  readonly terms: readonly string[];
  /** Less for an everyday word. */
  readonly weight: number;
}

/** The content words of a text, in order, each once. */
export type Topic = readonly TopicWord[];

export function topicOf(text: string): Topic {
  const words = wordsOf(text);
  const weights = commonnessOf(words.map((word) => word.text));
  const topic = new Map<string, TopicWord>();
  for (const [place, word] of words.entries()) {
    const term = termOf(word.text);
    const weight = weights[place] ?? 0;
    if (weight === 0 || topic.has(term)) continue;
    const other = otherTermOf(word.text);
    topic.set(term, { terms: other === undefined ? [term] : [term, other], weight });
  }
  return [...topic.values()];
}

/** @param deviations of their similarity from that of unrelated texts, if a model has read both */
export function areAlike(one: Topic, other: Topic, deviations = Number.NEGATIVE_INFINITY): boolean {
  const { share: least, subject, word, meaning } = WEIGHTS.similar;
  if (deviations >= meaning) return true;
  const common = one.reduce((sum, asked) => sum + Math.max(0, ...other.map((has) => matchOf(asked, has))), 0);
  const share = common / Math.max(1, Math.min(weightOf(one), weightOf(other)));
  if (common >= word && share >= least) return true;
  const [first, second] = [subjectOf(one), subjectOf(other)];
  return first !== undefined && second !== undefined && matchOf(first, second) > 0 && share >= subject;
}

/** "vim" in "we use vim". */
function subjectOf(topic: Topic): TopicWord | undefined {
  return topic.find(({ weight }) => weight === CONTENT_WORD) ?? topic[0];
}

function matchOf(one: TopicWord, other: TopicWord): number {
  const weight = Math.min(one.weight, other.weight);
  if (one.terms.some((term) => other.terms.includes(term))) return weight;
  const closeness = one.terms.flatMap((term) => {
    const synonyms = synonymsOf(term);
    return other.terms.map((synonym) => synonyms.get(synonym)?.closeness ?? 0);
  });
  return weight * WEIGHTS.words.related * Math.max(0, ...closeness);
}

function weightOf(topic: Topic): number {
  return topic.reduce((sum, { weight }) => sum + weight, 0);
}
