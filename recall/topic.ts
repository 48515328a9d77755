/**
 * Whether two facts are about the same thing, such as "the standup is at 9:30" and "standup moved to 10:00".
 *
 * Judged by the two texts alone, so the answer stays the same as a memory grows: by their common words, the first of which usually
 * names what a fact is about, or by a model that has read both.
 */
import { CONTENT_WORD, commonnessOf } from "./analysis/commonness.ts";
import { otherTermOf, termOf } from "./analysis/english.ts";
import { separateWordsOf, type Word, wordsOf } from "./analysis/words.ts";
import { synonymsOf } from "./lexical/synonyms.ts";
import { WEIGHTS } from "./weights.ts";

export interface TopicWord {
  readonly terms: readonly string[];
  /** Less for an everyday word. */
  readonly weight: number;
}

/** The content words of a text, in order, each once. */
export type Topic = readonly TopicWord[];

/** @param stem for many texts: one that keeps terms */
export function topicOf(text: string, stem = termOf): Topic {
  return topicOfWords(wordsOf(text), stem);
}

/**
 * The same, by the dictionary words of scripts without spaces, too. Enough for texts about the same thing; what contradicts what is
 * judged by rules that do not know these languages, and so by whole runs of them.
 */
export function topicBySeparateWords(text: string, stem = termOf): Topic {
  return topicOfWords(separateWordsOf(text), stem);
}

function topicOfWords(words: readonly Word[], stem: (word: string) => string): Topic {
  const weights = commonnessOf(words.map((word) => word.text));
  const topic = new Map<string, TopicWord>();
  for (const [place, word] of words.entries()) {
    const weight = weights[place] ?? 0;
    if (weight === 0) continue;
    const term = stem(word.text);
    if (topic.has(term)) continue;
    const other = otherTermOf(word.text);
    topic.set(term, { terms: other === undefined ? [term] : [term, other], weight });
  }
  return [...topic.values()];
}

/** @param deviations of their similarity from that of unrelated texts, if a model has read both */
export type IsAlike = (other: Topic, deviations?: number) => boolean;

/** What is looked up of the topic is prepared once: a new fact is compared with up to fifty. */
export function alikeTo(topic: Topic): IsAlike {
  const readings = readingsOf(topic);
  const subject = subjectOf(topic);
  const { share: least, subject: leastWithSubject, word, meaning } = WEIGHTS.similar;
  return (other, deviations = Number.NEGATIVE_INFINITY) => {
    if (deviations >= meaning) return true;
    const common = weightInCommon(topic, readings, other);
    const share = common / Math.max(1, Math.min(weightOf(topic), weightOf(other)));
    if (common >= word && share >= least) return true;
    if (share < leastWithSubject || subject === undefined) return false;
    const terms = subjectOf(other)?.terms ?? [];
    return terms.some((term) => readings.get(term)?.some(({ place }) => topic[place] === subject));
  };
}

/** A word of the topic that a term stands for, by its place. */
interface Reading {
  readonly place: number;
  /** 1 for the word itself, less for a synonym. */
  readonly closeness: number;
}

/** The words of a topic that each term stands for. */
export type Readings = ReadonlyMap<string, readonly Reading[]>;

export function readingsOf(topic: Topic): Readings {
  const readings = new Map<string, Reading[]>();
  const add = (term: string, reading: Reading) => {
    const known = readings.get(term);
    if (known === undefined) readings.set(term, [reading]);
    else known.push(reading);
  };
  for (const [place, { terms }] of topic.entries()) {
    for (const term of terms) {
      add(term, { place, closeness: 1 });
      for (const [synonym, { closeness }] of synonymsOf(term))
        add(synonym, { place, closeness: closeness * WEIGHTS.words.related });
    }
  }
  return readings;
}

const NO_READINGS: readonly Reading[] = [];

export function weightInCommon(topic: Topic, readings: Readings, other: Topic): number {
  return weightsInCommon(topic, readings, other).reduce((sum, weight) => sum + weight, 0);
}

/** For each word of the topic, the weight of the closest of the other's words. */
export function weightsInCommon(topic: Topic, readings: Readings, other: Topic): readonly number[] {
  const closest = topic.map(() => 0);
  for (const has of other) {
    for (const term of has.terms) {
      for (const { place, closeness } of readings.get(term) ?? NO_READINGS) {
        const weight = Math.min(topic[place]?.weight ?? 0, has.weight) * closeness;
        if (weight > (closest[place] ?? 0)) closest[place] = weight;
      }
    }
  }
  return closest;
}

/** No everyday word. */
export function isTelling({ weight }: TopicWord): boolean {
  return weight === CONTENT_WORD;
}

/** "vim" in "we use vim". */
export function subjectOf<Word extends TopicWord>(topic: readonly Word[]): Word | undefined {
  return topic.find(isTelling) ?? topic[0];
}

function weightOf(topic: Topic): number {
  return topic.reduce((sum, { weight }) => sum + weight, 0);
}
