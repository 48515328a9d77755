/** What is read of a fact once, to compare it with many: what it is about, and what it says of it. */
import { ANSWER_LIMITS } from "../engine/answer-limits.ts";
import { isRole } from "./analysis/asked.ts";
import { termOf } from "./analysis/english.ts";
import { readValues, type Values } from "./analysis/values.ts";
import { fold, placedRunsOf } from "./analysis/words.ts";
import { synonymsOf } from "./lexical/synonyms.ts";
import { isTelling, type Readings, readingsOf, type Topic, type TopicWord, topicOf } from "./topic.ts";
import { WEIGHTS } from "./weights.ts";

/** The term of a folded word. */
export type Stem = (word: string) => string;

export interface FactText {
  readonly key: string;
  readonly value: string;
}

/** A longer fact says many things. */
const LONGEST = ANSWER_LIMITS.snippetCharacters;

/** Each part is read when it is needed: most facts that share words differ in more than one value. */
export class Claim {
  readonly values: Values;
  readonly #key: string;
  readonly #value: string;
  readonly #rest: string;
  readonly #stem: Stem;
  #topic: Topic | undefined;
  #readings: Readings | undefined;
  #around: Topic | undefined;
  #names: readonly ReadonlySet<string>[] | undefined;
  #compounds: ReadonlySet<string> | undefined;
  #members: ReadonlyMap<string, readonly string[]> | undefined;
  #polarity: Polarity | undefined;

  /** @param stem may keep terms, for as long as their texts may be kept */
  constructor({ key, value: whole }: FactText, stem: Stem = termOf) {
    const value = whole.slice(0, LONGEST);
    const { values, rest } = readValues(value);
    this.#key = key;
    this.#value = value;
    this.#rest = rest;
    this.#stem = stem;
    this.values = values;
  }

  /** Its words without values. */
  get topic(): Topic {
    this.#topic ??= topicIn(this.#rest, this.#stem);
    return this.#topic;
  }

  get readings(): Readings {
    this.#readings ??= readingsOf(this.topic);
    return this.#readings;
  }

  /** With the words of its key, which tell what it is about, too. */
  get around(): Topic {
    this.#around ??= [...this.topic, ...topicOf(this.#key.replace(/[^\p{L}\p{N}]+/gu, " "), this.#stem)];
    return this.#around;
  }

  /** The terms of each proper name. */
  get names(): readonly ReadonlySet<string>[] {
    this.#names ??= namesIn(this.#rest, this.#stem);
    return this.#names;
  }

  get polarity(): Polarity {
    this.#polarity ??= polarityOf(this.#value);
    return this.#polarity;
  }

  get isPast(): boolean {
    return PAST.test(this.#value);
  }

  /** One of several such facts: an allergy, something to buy. */
  get isOneOfMany(): boolean {
    return ONE_OF_MANY.test(this.#value);
  }

  /** It begins with what it is about, not with "we" or "they". */
  get speaksOf(): boolean {
    return !PRONOUN_FIRST.test(this.#rest);
  }

  /** The terms of those whose matter it is: "Sanne" in "Sanne's phone". */
  get owners(): ReadonlySet<string> {
    return ownersIn(this.#rest, this.topic, this.#stem);
  }

  /** The sides of an opposite, such as a start and an end, of which it names one. */
  get aspects(): ReadonlySet<string> {
    return aspectsIn(this.#value);
  }

  /** Whether one of two terms tells the other apart, as in "rent deposit". */
  isCompound(one: string, other: string): boolean {
    this.#compounds ??= compoundsIn(this.#rest, this.#stem);
    return this.#compounds.has(compound(one, other));
  }

  /** The kinds of words that can be a value: of "yarn" in "package manager: yarn". */
  get members(): ReadonlyMap<string, readonly string[]> {
    this.#members ??= membersIn(this.#rest, this.#stem);
    return this.#members;
  }
}

export type Polarity = "negated" | "unclear" | "plain";

/** What comes after a comma only adds to it. */
const ASIDE = /(?<=\p{L}{3})(?:[,;(]| [-–—]) /u;
const HERE = /\b(?:in|on|for|with) (?:this \p{L}+|us)\b/giu;

function topicIn(text: string, stem: Stem): Topic {
  const [main = "", ...asides] = text.replace(HERE, "").split(ASIDE);
  const own = topicOf(main, stem).map(asGeneric);
  const known = new Set(termsOf(own));
  const added = topicOf(asides.join(", "), stem).filter(
    ({ terms }) => !terms.some((term) => known.has(term)),
  );
  return own.some(isTelling) ? [...own, ...added.map(asEveryday)] : [...own, ...added.map(asGeneric)];
}

/** Words that name no matter of their own, but stand beside a value. */
const LIGHT = setOf(
  "go take give get pay switch change move hold held happen schedule set come run work allow permit forbid forbidden ban" +
    " prohibit stop quit fine okay dose amount price cost due deadline right correct current normal usual exact",
);
/** The same, but "the shop opens" is not "the shop delivers". */
export const VERBS = setOf(
  "start begin end finish open close stand lie sit live stay last need ship release buy keep store eat drink leave expire renew",
);

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(" ").map(termOf));
}

function asGeneric(word: TopicWord): TopicWord {
  return word.terms.some((term) => LIGHT.has(term) || VERBS.has(term)) ? asEveryday(word) : word;
}

function asEveryday(word: TopicWord): TopicWord {
  return { ...word, weight: Math.min(word.weight, WEIGHTS.words.everyday) };
}

const PRONOUN_FIRST = /^(?:I|we|they|you|he|she|it|there)\b/i;

/** Not at the beginning of a sentence, where every word has a capital. */
const NAME = /(?<=[\p{Ll}\p{N},:·'’)] +)\p{Lu}\p{Ll}+\.?(?: \p{Lu}\p{Ll}+)*/gu;
const NAME_FIRST = /^\p{Lu}\p{Ll}+(?= (?:is|will be) (?:my|our|the)\b)/gu;

function namesIn(text: string, stem: Stem): readonly ReadonlySet<string>[] {
  const names = [...text.matchAll(NAME), ...text.matchAll(NAME_FIRST)];
  return names.map(([name]) => new Set(placedRunsOf(name).map(({ run }) => stem(fold(run)))));
}

const POSSESSIVE = /(?<![\p{L}\p{M}])([\p{L}\p{M}]+)(?:['’]s|(?<=s)['’])(?!\p{L})/gu;

function ownersIn(text: string, topic: Topic, stem: Stem): ReadonlySet<string> {
  const possessive = [...text.matchAll(POSSESSIVE)].map(([, owner = ""]) => stem(fold(owner)));
  return new Set([...possessive, ...topic.flatMap(({ terms }) => terms.filter(isRole))]);
}

function compoundsIn(text: string, stem: Stem): ReadonlySet<string> {
  const runs = placedRunsOf(text);
  const found = new Set<string>();
  for (const [place, { run, at }] of runs.entries()) {
    const next = runs[place + 1];
    const isBeside = next?.at === at + run.length + 1 && text[next.at - 1] === " ";
    // "standup starts" is no compound.
    if (isBeside && !/[^s]s$/.test(next.run)) found.add(compound(stem(fold(run)), stem(fold(next.run))));
  }
  return found;
}

function compound(one: string, other: string): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}

/** Not at the beginning, nor after an article: "the dog" is what "the dog sleeps" is about, but not "the kitchen" after "in". */
const MEMBER =
  /(?<=\p{L}[:=]? )(?<!(?<!\b(?:in|at|on|to|is|are|by) )\b(?:the|an?|my|our|your|his|her|their|some|any|no) )\p{L}+/giu;

function membersIn(text: string, stem: Stem): ReadonlyMap<string, readonly string[]> {
  const members = new Map<string, readonly string[]>();
  for (const [word] of text.matchAll(MEMBER)) {
    const term = stem(fold(word));
    const kinds = [...synonymsOf(term)].filter(([, { closeness }]) => closeness < 1).map(([kind]) => kind);
    if (kinds.length > 0) members.set(term, kinds);
  }
  return members;
}

const NEGATED =
  /\b(?:not|never|no|without|none|nobody|cannot|(?:do|does|did|is|are|was|were|wo|would|ca|could|should|must|has|have|had|need)n['’]?t|stopped|quit|gave up|forbidden|banned|prohibited)\b/i;
const NO_NEGATION = /\b(?:not only|no matter|no problem|nothing else|no one else|nobody else|no need)\b/gi;
const CONDITION = /\b(?:except|unless|but|only|if|when|while|until|before|after)\b/i;
/** Says no in other words, or hardly yes. */
const UNCLEAR =
  /\b(?:nothing|free (?:of|from)|hard|difficult|avoid\w*|fail\w*|against|hates?|dislikes?|refuses?|lost|expired|cancell?ed|intoleran\w*|afraid|scare\w*|off|out|less|instead|rather|yet|few|little|rarely|seldom|hardly|lacks?|missing|broken|stops?|away)\b/i;

function polarityOf(text: string): Polarity {
  const said = text.replace(NO_NEGATION, "");
  if (CONDITION.test(said)) return "unclear";
  if (NEGATED.test(said)) return "negated";
  return UNCLEAR.test(said) ? "unclear" : "plain";
}

const PAST =
  /\b(?:was|were|used to|formerly|former|previously|lived|worked|stayed|visited|went|had|(?<!years? )old|ago|first|last (?:year|month|week|summer|winter))\b(?! (?:born|moved|changed|renamed|replaced|set|raised|increased|postponed|rescheduled)\b)/i;
const ONE_OF_MANY =
  /\b(?:allerg\w+|intoleran\w+|likes?|loves?|hates?|enjoys?|prefers?|wants?|buy|need|speaks?|knows?|plays?|reads?|reading|watch\w*|visit\w*|learn\w*|owns?|met|tried|lists?|also|too|another|others?|one of|some|can|colleagues?|friends?|neighbou?rs?|brothers?|sisters?|sons?|daughters?|cousins?|uncles?|aunts?|clients?|customers?|kids?|child|cats?|dogs?|books?|films?)\b/i;

const OPPOSITES: readonly (readonly [RegExp, RegExp])[] = [
  [/\b(?:start|begin|open|since)\w*/i, /\b(?:end|finish|close|closing|until|deadline|due|stop)\w*/i],
  [/\b(?:min|minimum|at least|lowest)\b/i, /\b(?:max|maximum|at most|highest)\b/i],
  [/\b(?:depart|leave|there)\w*/i, /\b(?:arriv|return|back)\w*/i],
  [/\b(?:in|input|income|incoming|buy)\b/i, /\b(?:out|output|outgoing|expenses?|sell)\b/i],
  [/\b(?:from|before|left|upper|front|top)\b/i, /\b(?:to|after|right|lower|rear|bottom)\b/i],
];

/** "2+" for the latter side of the third, unless the former is there, too. */
function aspectsIn(text: string): ReadonlySet<string> {
  const sides = OPPOSITES.flatMap((sides, place) => {
    const [former, latter] = sides.map((side) => side.test(text));
    return former === latter ? [] : [`${place}${former ? "-" : "+"}`];
  });
  return new Set(sides);
}

export function opposite(side: string): string {
  return side.endsWith("-") ? side.replace("-", "+") : side.replace("+", "-");
}

export function termsOf(words: readonly TopicWord[]): readonly string[] {
  return words.flatMap(({ terms }) => terms);
}
