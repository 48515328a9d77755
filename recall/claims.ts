/** What is read of a fact once, to compare it with many: what it is about, and what it says of it. */
import { ANSWER_LIMITS } from "../engine/answer-limits.ts";
import { isRole } from "./analysis/asked.ts";
import { termOf } from "./analysis/english.ts";
import { type ReadValues, readValues, type Values } from "./analysis/values.ts";
import { fold, hasUnspaced, placedRunsOf, wordsOf } from "./analysis/words.ts";
import stopWords from "./data/stop-words.json" with { type: "json" };
import { kindsOf } from "./lexical/synonyms.ts";
import {
  alikeTo,
  type IsAlike,
  isTelling,
  type Readings,
  readingsOf,
  type Topic,
  type TopicWord,
  topicBySeparateWords,
  topicOf,
} from "./topic.ts";
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
  readonly #key: string;
  readonly #value: string;
  readonly #stem: Stem;
  #read: ReadValues | undefined;
  #said: Topic | undefined;
  #isAlike: IsAlike | undefined;
  #topic: Topic | undefined;
  #readings: Readings | undefined;
  #around: Topic | undefined;
  #names: readonly ReadonlySet<string>[] | undefined;
  #compounds: ReadonlySet<string> | undefined;
  #members: ReadonlyMap<string, readonly string[]> | undefined;
  #polarity: Polarity | undefined;

  /** @param stem may keep terms, for as long as their texts may be kept */
  constructor({ key, value: whole }: FactText, stem: Stem = termOf) {
    this.#key = key;
    this.#value = whole.slice(0, LONGEST);
    this.#stem = stem;
  }

  get values(): Values {
    this.#read ??= readValues(this.#value);
    return this.#read.values;
  }

  get #rest(): string {
    this.#read ??= readValues(this.#value);
    return this.#read.rest;
  }

  /** All its words, to tell whether it is about the same thing. */
  get said(): Topic {
    const isWhole = hasUnspaced(this.#value) || !this.topic.some(isTelling);
    this.#said ??= isWhole ? topicBySeparateWords(this.#value, this.#stem) : this.topic;
    return this.#said;
  }

  get isAlike(): IsAlike {
    this.#isAlike ??= alikeTo(this.said);
    return this.#isAlike;
  }

  /** Its words without values. */
  get topic(): Topic {
    this.#topic ??= topicIn(withStates(this.#rest), this.#stem);
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

  /** It says that something is so from now on: "moved to", "now". */
  get isChange(): boolean {
    return CHANGE.test(fold(this.#value));
  }

  /** It says that something is over: "no longer", "sold". */
  get isEnd(): boolean {
    return END.test(fold(this.#value));
  }

  get isPast(): boolean {
    return PAST.test(this.#value) && !this.isChange;
  }

  /** It says where somebody lives or works. */
  get hasState(): boolean {
    return this.topic.some(({ terms }) => terms.some((term) => STATE_TERMS.has(term)));
  }

  /** "garage" in "the car stands in the garage". */
  get place(): string | undefined {
    const [, place] = PLACE.exec(this.#rest) ?? [];
    return place === undefined ? undefined : this.#stem(fold(place));
  }

  /** The terms of what it says was replaced: "npm" in "pnpm instead of npm". */
  get replaced(): ReadonlySet<string> {
    return new Set([...this.#value.matchAll(REPLACED)].map(([, what = ""]) => this.#stem(fold(what))));
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

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(" ").map(termOf));
}

/** What comes after a comma only adds to it. */
const ASIDE = /(?<=\p{L}{3})(?:[,;(]| [-–—]) /u;
const HERE = /\b(?:in|on|for|with) (?:this \p{L}+|us)\b/giu;

function topicIn(text: string, stem: Stem): Topic {
  const [main = "", ...asides] = text.replace(HERE, "").split(ASIDE);
  const own = generic(topicOf(main, stem), text);
  const known = new Set(termsOf(own));
  const added = topicOf(asides.join(", "), stem).filter(
    ({ terms }) => !terms.some((term) => known.has(term)),
  );
  const all = own.some(isTelling) ? [...own, ...added.map(asEveryday)] : [...own, ...generic(added, text)];
  return [...all, ...kindsIn(all, text)];
}

/** What somebody lives in or works at, whichever way they say it; at the same place in English, German, Spanish and French. */
const STATES: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:lives?(?= (?:in|at|with|near)\b)|(?:have |has )?moved (?=to \p{Lu}|into (?:the|an?) )|wohn(?:e|st|t|en)(?= in\b)|umgezogen|vivo(?= en\b)|vive(?= en\b)|vivimos(?= en\b)|(?:me|nos|se) mud(?:é|ó|amos)|habit(?:e|es|ons|ent)(?= [àaa]\b|\P{L})|(?:ai|as|a|avons|ont) déménagé)/giu,
    " residence ",
  ],
  [
    /\b(?:works?(?= (?:at|for|in)\b)|started(?= at \p{Lu})|joined(?= \p{Lu})|arbeite[nt]?(?= (?:bei|in|für)\b)|trabaj(?:o|a|amos)(?= (?:en|para)\b)|travaill(?:e|es|ons|ent)(?= (?:chez|à|pour|plus)\b))/giu,
    " employment ",
  ],
];

/** The words that {@link STATES} are said with. */
export const STATE_WORDS = setOf(
  "live move wohne wohnt wohnen umgezogen vivo vive vivimos mude mudo mudamos habite habitons demenage work start join" +
    " arbeite arbeitet trabajo trabaja travaille",
);
const STATE_TERMS = setOf("residence employment");

function withStates(text: string): string {
  return STATES.reduce((said, [pattern, state]) => said.replace(pattern, state), text);
}

const END_WORDS =
  "no longer|any ?more|sold|quit|gave up|given up|cancell?ed|stopped|died|nicht mehr|kein\\w* (?:\\w+ )*mehr|verkauft|gekundigt|abgesagt" +
  "|aufgehort|ya no|vend(?:i|io|imos|ido)|deje|dejo de|cancel(?:e|o|ado|ada)|ne [^.]*?\\bplus|n['’][^.]*?\\bplus|vendu|arrete|annulee?|resilie";
/** Folded, in English, German, Spanish and French. */
const END = new RegExp(`\\b(?:${END_WORDS})\\b`);
const CHANGE = new RegExp(
  `\\b(?:${END_WORDS}|now|nowadays|from now on|since|moved|switched|changed|migrated|replaced|renamed|rescheduled|postponed|delayed` +
    "|from (?:january|february|march|april|may|june|july|august|september|october|november|december|next)|as of|ab (?:januar|februar|marz|april|mai|juni|juli|august|september|oktober|november|dezember|dem)|a partir d[eu]|upgraded|downgraded|raised|increased|lowered|reduced|became|took over|instead of|ha(?:s|ve) a new|got a new|by now" +
    "|jetzt|nun|inzwischen|mittlerweile|ab sofort|seit|umgezogen|gewechselt|umgestiegen|ersetzt|umbenannt|verschoben|verlegt|vertagt" +
    "|geandert|ahora|actualmente|desde|mud(?:e|o|amos|ado)|cambi(?:e|o|amos|ado)|(?:re)?emplaz\\w+|sustitui\\w+|renombr\\w+|aplaz\\w+" +
    "|pospu\\w+|traslad\\w+|maintenant|desormais|actuellement|depuis|demenage|change|passee?s? a|pasa a|remplacee?|renommee?|reportee?" +
    "|repoussee?|deplacee?)\\b",
);

const ARTICLE = "(?:(?:the|an?|my|our|der|die|das|dem|den|el|la|los|las|le|les) |l['’])?";
const REPLACED = new RegExp(
  `\\b(?:(?:instead of|took over from|replaced|replaces|(?:switched|migrated|moved|changed) (?:\\p{L}+ ){0,3}from|statt|anstelle von|(?:von|de) (?=\\p{L}+ (?:auf|zu|a|à) )|en vez de|en lugar de|au lieu (?:de |d['’]))) ?${ARTICLE}([\\p{L}\\p{N}]+)`,
  "giu",
);

const PLACE =
  /\b(?:is|are|stands?|lies?|lives?|sleeps?|parked|kept|stored)(?: now)? (?:in|on|at|behind|under|beside|next to) (?:the|my|our) (\p{L}+)/iu;

/** "We use npm", "the shop runs on MySQL": such things are replaced by others of their kind. */
const USES =
  /\b(?:uses?|using|runs? on|(?:install(?:ed|s)?|stor(?:ed|es)|buil[dt]s?|written|work) (?:\p{L}+ )?(?:with|in|on)|switched|migrated|pass[ée]e?s? à|nutz\w+|verwende\w*|l(?:ä|ae)uft (?:seit \p{L}+ )?auf|usa|usamos|utilis\w+)\b/iu;
/** Kinds of which somebody mostly has several. */
export const MANY = setOf(
  "drink beverage alcohol food fruit vegetable meat allergy allergic sport exercise instrument music genre pet framework infrastructure deploy" +
    " monitoring metrics",
);

/** The kinds of what is used. */
function kindsIn(topic: Topic, text: string): Topic {
  if (!USES.test(text)) return [];
  return topic.flatMap(({ terms: [term = ""], weight }) => {
    const kinds = kindsOf(term);
    return kinds.length === 0 || kinds.some((kind) => MANY.has(kind))
      ? []
      : [{ terms: [`:${kinds[0]}`, ...kinds], weight }];
  });
}

/** Words that say only that something changed or is used. */
const SAID = setOf(
  "now nowadays longer anymore since moved switched changed migrated replaced renamed rescheduled postponed delayed upgraded sold" +
    " cancelled died host parked tracked jetzt nun inzwischen mittlerweile seit mehr umgezogen gewechselt umgestiegen ersetzt verschoben" +
    " verlegt vertagt verkauft gekundigt abgesagt lauft nutzt nutzen fahre habe ahora ya aplazo aplazada pospuso vendi mude usa usamos" +
    " maintenant desormais plus depuis reportee reporte vendu utilise utilisons passee pasa these days",
);

/** Words that name no matter of their own, but stand beside a value. */
const LIGHT = setOf(
  "go take give get switch change move hold held happen schedule set come run work allow permit forbid forbidden ban" +
    " prohibit stop quit fine okay dose amount price cost due deadline right correct current normal usual exact",
);
/** The same, but "the shop opens" is not "the shop delivers". */
export const VERBS = setOf(
  "start begin end finish open close stand lie sit live stay last need ship release buy keep store eat drink leave expire renew" +
    " drive ride own have use",
);

const { english, german, spanish, french } = stopWords;
const wordsIn = (lists: readonly string[]) => new Set(lists.flatMap((line) => line.split(" ")).map(fold));
const ENGLISH = wordsIn(english);
/** Without what is a content word in English. */
const FOREIGN = wordsIn([...german, ...spanish, ...french]).difference(
  wordsIn(["car son sale die war man am pas"]),
);

/** In a few words of another language, too few of its function words stand to tell it. */
function generic(topic: Topic, text: string): Topic {
  const words = wordsOf(text).map((word) => word.text);
  const countIn = (list: ReadonlySet<string>) => words.filter((word) => list.has(word)).length;
  const isForeign = countIn(FOREIGN) > countIn(ENGLISH);
  const isLight = (term: string) => LIGHT.has(term) || VERBS.has(term);
  const saysNothing = (term: string) => SAID.has(term) || (isForeign && FOREIGN.has(term));
  return topic
    .filter(({ terms }) => !terms.some(saysNothing))
    .map((word) => (word.terms.some(isLight) ? asEveryday(word) : word));
}

function asEveryday(word: TopicWord): TopicWord {
  return { ...word, weight: Math.min(word.weight, WEIGHTS.words.everyday) };
}

const PRONOUN_FIRST = /^(?:I|we|they|you|he|she|it|there)\b/i;

/** Not at the beginning of a sentence, where every word has a capital. */
const NAME = /(?<=[\p{Ll}\p{N},:·'’)] +)\p{Lu}\p{Ll}+\.?(?: \p{Lu}\p{Ll}+)*/gu;
const NAME_FIRST = /^\p{Lu}\p{Ll}+(?= (?:is|will be) (?:my|our|the)\b)/gu;

/** In German every noun has a capital. */
const GERMAN =
  /\b(?:[Dd](?:er|as|em|en)|[Ee]in(?:e[mnr]?)?|[MmDd]eine?|[Uu]nser[em]?|[Ii]ch|[Ww]ir|ist|sind|wird|wurde|hei(?:ß|ss)t|nutzt)\b/u;
const NAME_GERMAN =
  /(?<=(?:\b(?:hei(?:ß|ss)t(?: jetzt| nun)?|in|nach|bei|zu|Herrn?|Frau)|Dr\.) )\p{Lu}\p{Ll}+/gu;

function namesIn(text: string, stem: Stem): readonly ReadonlySet<string>[] {
  const names = GERMAN.test(text)
    ? text.matchAll(NAME_GERMAN).toArray()
    : [...text.matchAll(NAME), ...text.matchAll(NAME_FIRST)];
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

/**
 * Not at the beginning, nor after an article: "the dog" is what "the dog sleeps" is about, but not "the kitchen" after "in", nor what
 * tells a kind apart, as in "a light theme".
 */
const MEMBER = /\p{L}[:=]? $/u;
const TOLD = /(?<!\b(?:in|at|on|to|is|are|by) )\b(?:the|an?|my|our|your|his|her|their|some|any|no) $/iu;

function membersIn(text: string, stem: Stem): ReadonlyMap<string, readonly string[]> {
  const members = new Map<string, readonly string[]>();
  const runs = placedRunsOf(text);
  for (const [place, { run, at }] of runs.entries()) {
    const term = stem(fold(run));
    const kinds = kindsOf(term);
    if (kinds.length === 0 || !MEMBER.test(text.slice(0, at))) continue;
    const next = runs[place + 1]?.run ?? "";
    if (!TOLD.test(text.slice(0, at)) || kinds.includes(stem(fold(next)))) members.set(term, kinds);
  }
  return members;
}

const NEGATED =
  /\b(?:nicht|nie|kein\w*|ohne|nunca|sin|ne|pas|jamais|sans|not|never|no|without|none|nobody|cannot|(?:do|does|did|is|are|was|were|wo|would|ca|could|should|must|has|have|had|need)n['’]?t|stopped|quit|gave up|forbidden|banned|prohibited)\b/i;
const NO_NEGATION = /\b(?:not only|no matter|no problem|nothing else|no one else|nobody else|no need)\b/gi;
const CONDITION = /\b(?:except|unless|but|only|if|when|while|until|before|after)\b/i;
/** Says no in other words, or hardly yes. */
const UNCLEAR =
  /\b(?:nothing|free (?:of|from)|hard|difficult|avoid\w*|fail\w*|against|hates?|dislikes?|refuses?|lost|expired|cancell?ed|intoleran\w*|afraid|scare\w*|off|out|less|instead|rather|yet|few|little|rarely|seldom|hardly|lacks?|missing|broken|stops?|away)\b/i;

function polarityOf(text: string): Polarity {
  const said = text.replace(NO_NEGATION, "");
  if (CONDITION.test(said)) return "unclear";
  if (NEGATED.test(said) || END.test(fold(said))) return "negated";
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
