/**
 * What two facts are to each other: whether they contradict each other, say the same, or are only about near things.
 *
 * Judged by the two texts and keys alone. A contradiction needs the same subject and exactly one difference: another amount, time,
 * date or name, another member of a kind ("yarn", "pnpm"), or a negation. A wrong call costs more than a missed one, so whatever
 * may make both true rules it out: another owner, day or year, a compound ("rent", "rent deposit"), a condition, a list.
 */
import { isRole } from "./analysis/asked.ts";
import { CONTENT_WORD } from "./analysis/commonness.ts";
import { termOf } from "./analysis/english.ts";
import { readValues, type Values } from "./analysis/values.ts";
import { fold, placedRunsOf } from "./analysis/words.ts";
import { synonymsOf } from "./lexical/synonyms.ts";
import {
  type Readings,
  readingsOf,
  subjectOf,
  type Topic,
  type TopicWord,
  topicOf,
  weightsInCommon,
} from "./topic.ts";
import { WEIGHTS } from "./weights.ts";

export type Relation = "contradict" | "same" | "near" | "none";

/** What is read of a fact once, to compare it with many. */
export interface Claim {
  /** Its words without values. */
  readonly topic: Topic;
  readonly readings: Readings;
  /** With the words of its key, which tell what it is about, too. */
  readonly around: Topic;
  readonly values: Values;
  /** The terms of each proper name. */
  readonly names: readonly ReadonlySet<string>[];
  /** What only near facts need. */
  readonly details: () => Details;
}

interface Details {
  /** The terms of those whose matter it is: "Sanne" in "Sanne's phone". */
  readonly owners: ReadonlySet<string>;
  /** Pairs of terms side by side, of which one tells the other apart: "rent deposit". */
  readonly compounds: ReadonlySet<string>;
  /** The kinds of words that can be a value: of "yarn" in "package manager: yarn". */
  readonly members: ReadonlyMap<string, readonly string[]>;
  /** It begins with what it is about, not with "we" or "they". */
  readonly speaksOf: boolean;
  readonly polarity: "negated" | "unclear" | "plain";
  readonly isPast: boolean;
  /** One of several such facts: an allergy, something to buy. */
  readonly isOneOfMany: boolean;
  /** The sides of an opposite, such as a start and an end, of which it names one. */
  readonly aspects: ReadonlySet<string>;
}

export function claimOf({ key, value }: { readonly key: string; readonly value: string }): Claim {
  const { values, rest } = readValues(value);
  const topic = topicIn(rest);
  let details: Details | undefined;
  return {
    topic,
    readings: readingsOf(topic),
    around: [...topic, ...topicOf(key.replace(/[^\p{L}\p{N}]+/gu, " "))],
    values,
    names: namesIn(rest),
    details: () => {
      details ??= detailsOf(value, rest, topic);
      return details;
    },
  };
}

function detailsOf(value: string, rest: string, topic: Topic): Details {
  return {
    owners: ownersIn(rest, topic),
    compounds: compoundsIn(rest),
    members: membersIn(rest),
    speaksOf: !PRONOUN_FIRST.test(rest),
    polarity: polarityOf(value),
    isPast: PAST.test(value),
    isOneOfMany: ONE_OF_MANY.test(value),
    aspects: aspectsIn(value),
  };
}

/** What comes after a comma only adds to it. */
const ASIDE = /(?<=\p{L}{3})(?:[,;(]| [-–—]) /u;
const HERE = /\b(?:in|on|for|with) (?:this \p{L}+|us)\b/giu;

function topicIn(text: string): Topic {
  const [main = "", ...asides] = text.replace(HERE, "").split(ASIDE);
  const own = topicOf(main).map(asGeneric);
  const known = new Set(termsOf(own));
  const added = topicOf(asides.join(", ")).filter(({ terms }) => !terms.some((term) => known.has(term)));
  return own.some(isTelling) ? [...own, ...added.map(asEveryday)] : [...own, ...added.map(asGeneric)];
}

const PRONOUN_FIRST = /^(?:I|we|they|you|he|she|it|there)\b/i;

/** Words that name no matter of their own, but stand beside a value. */
const LIGHT = setOf(
  "go take give get pay switch change move hold held happen schedule set come run work allow permit forbid forbidden ban" +
    " prohibit fine okay dose amount price cost due deadline right correct current normal usual exact",
);
/** The same, but "the shop opens" is not "the shop delivers". */
const VERBS = setOf(
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

/** Not at the beginning of a sentence, where every word has a capital. */
const NAME = /(?<=[\p{Ll}\p{N},:·'’)] +)\p{Lu}\p{Ll}+\.?(?: \p{Lu}\p{Ll}+)*/gu;
const NAME_FIRST = /^\p{Lu}\p{Ll}+(?= (?:is|will be) (?:my|our|the)\b)/gu;

function namesIn(text: string): readonly ReadonlySet<string>[] {
  const names = [...text.matchAll(NAME), ...text.matchAll(NAME_FIRST)];
  return names.map(([name]) => new Set(placedRunsOf(name).map(({ run }) => termOf(fold(run)))));
}

const POSSESSIVE = /(?<![\p{L}\p{M}])([\p{L}\p{M}]+)(?:['’]s|(?<=s)['’])(?!\p{L})/gu;

function ownersIn(text: string, topic: Topic): ReadonlySet<string> {
  const possessive = [...text.matchAll(POSSESSIVE)].map(([, owner = ""]) => termOf(fold(owner)));
  return new Set([...possessive, ...topic.flatMap(({ terms }) => terms.filter(isRole))]);
}

function compoundsIn(text: string): ReadonlySet<string> {
  const runs = placedRunsOf(text);
  const found = new Set<string>();
  for (const [place, { run, at }] of runs.entries()) {
    const next = runs[place + 1];
    const isBeside = next?.at === at + run.length + 1 && text[next.at - 1] === " ";
    // "standup starts" is no compound.
    if (isBeside && !/[^s]s$/.test(next.run)) found.add(compound(termOf(fold(run)), termOf(fold(next.run))));
  }
  return found;
}

function compound(one: string, other: string): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}

/** Not at the beginning, nor after an article: "the dog" is what "the dog sleeps" is about, but not "the kitchen" after "in". */
const MEMBER =
  /(?<=\p{L}[:=]? )(?<!(?<!\b(?:in|at|on|to|is|are|by) )\b(?:the|an?|my|our|your|his|her|their|some|any|no) )\p{L}+/giu;

function membersIn(text: string): ReadonlyMap<string, readonly string[]> {
  const members = new Map<string, readonly string[]>();
  for (const [word] of text.matchAll(MEMBER)) {
    const term = termOf(fold(word));
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

function polarityOf(text: string): Details["polarity"] {
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

/**
 * The same whichever comes first. Two facts without a word in common take about a microsecond.
 *
 * @param deviations of their similarity from that of unrelated texts, if a model has read both
 */
export function relationOf(one: Claim, other: Claim, deviations?: number): Relation {
  const { apart, close, closer, least, same, near } = WEIGHTS.conflicts;
  if ((deviations ?? apart) < apart) return "none";
  const [here, there] = [besides(one, other), besides(other, one)];
  const [less, more] = [here.share, there.share].sort((a, b) => a - b) as [number, number]; // two
  if (more < near) return "none";
  const sides = [sideOf(here), sideOf(there)] as const;
  const values = compareValues(one.values, other.values);
  const isClose = (deviations ?? apart) >= close;
  const difference = differenceOf(sides, values, isClose);
  if (difference === undefined)
    return less >= same && sides[0].polarity === sides[1].polarity && areAllSaid(sides, values)
      ? "same"
      : "near";
  const { share, most } = least[difference];
  const isAbout = isClose
    ? less >= share * closer
    : less >= share && more >= most && !areApart(sides, difference);
  return isAbout ? "contradict" : "near";
}

interface ComparedWord extends TopicWord {
  /** The weight of the closest of the other's words; 0: it has none. */
  readonly common: number;
}

/** One of two claims beside the other. */
interface Beside {
  readonly claim: Claim;
  /** Without names that the other lacks: they may be the value. */
  readonly words: readonly ComparedWord[];
  readonly ownNames: number;
  /** The share of the words that the other has. */
  readonly share: number;
}

function besides(claim: Claim, other: Claim): Beside {
  const common = weightsInCommon(claim.topic, claim.readings, other.around);
  const all = claim.topic.map((word, place) => ({ ...word, common: common[place] ?? 0 }));
  const isIn = ({ terms }: TopicWord, name: ReadonlySet<string>) => terms.some((term) => name.has(term));
  const ownNames = claim.names.filter((name) => all.some((word) => word.common === 0 && isIn(word, name)));
  const words = all.filter((word) => word.common > 0 || !ownNames.some((name) => isIn(word, name)));
  const same = sharedNumbers(claim.values, other.values);
  const share = (sumOf(words, "common") + same) / Math.max(1, sumOf(words, "weight") + same);
  return { claim, words, ownNames: ownNames.length, share };
}

interface Side extends Beside, Details {
  readonly hasSubject: boolean;
  readonly hasOwner: boolean;
  /** The terms of content words that the other lacks, and of verbs. */
  readonly own: readonly string[];
  readonly ownVerbs: readonly string[];
  /** The same as `own`, and those of which the other has only the kind, or a member. */
  readonly kin: readonly string[];
  /** The terms that the other has. */
  readonly shared: readonly string[];
}

type Sides = readonly [Side, Side];

function sideOf(beside: Beside): Side {
  const { claim, words } = beside;
  const details = claim.details();
  const lacking = words.filter(({ common }) => common === 0);
  const subject = subjectOf(words);
  const isShared = ({ common, weight }: ComparedWord) => common >= WEIGHTS.words.related * weight;
  return {
    ...{ ...beside, ...details },
    hasSubject:
      !details.speaksOf ||
      subject === undefined ||
      subject.weight < CONTENT_WORD ||
      !lacking.includes(subject),
    hasOwner: lacking.some(({ terms }) => terms.some((term) => details.owners.has(term))),
    own: termsOf(lacking.filter(isTelling)),
    ownVerbs: termsOf(lacking).filter((term) => VERBS.has(term)),
    kin: termsOf(words.filter((word) => !isShared(word) && isTelling(word))),
    shared: termsOf(words.filter(isShared)),
  };
}

function isTelling({ weight }: TopicWord): boolean {
  return weight === CONTENT_WORD;
}

function termsOf(words: readonly TopicWord[]): readonly string[] {
  return words.flatMap(({ terms }) => terms);
}

function areAllSaid([here, there]: Sides, { differ, overlap, alone }: Compared): boolean {
  const isSaid = ({ ownNames, hasOwner }: Side) => ownNames === 0 && !hasOwner;
  return differ.length + overlap.length + alone.length === 0 && isSaid(here) && isSaid(there);
}

function sumOf<Name extends string>(words: readonly Readonly<Record<Name, number>>[], name: Name): number {
  return words.reduce((sum, word) => sum + word[name], 0);
}

/** "4.0" in "release 4.0" and in "4.0 ships in May" says what both are about. */
function sharedNumbers(one: Values, other: Values): number {
  const [here, there] = [one.get("number"), other.get("number")];
  return here === undefined || there === undefined ? 0 : here.intersection(there).size;
}

/** The kinds of values, by how two facts' values of a kind compare. */
interface Compared {
  readonly differ: readonly string[];
  /** Some are the same. */
  readonly overlap: readonly string[];
  /** Only one fact has such a value. */
  readonly alone: readonly string[];
}

const SCOPES = new Set(["weekday", "month", "year", "daytime"]);
const CURRENCIES = new Set(["euro", "dollar", "pound"]);
/** Tell more of another value. */
const BESIDE = new Set(["rate", "year of date", "named"]);

function compareValues(one: Values, other: Values): Compared {
  const kinds = [...new Set([...one.keys(), ...other.keys()])].map((kind) => {
    return { kind, how: comparedOf(one.get(kind), other.get(kind)) };
  });
  const those = (wanted: string) => kinds.filter(({ how }) => how === wanted).map(({ kind }) => kind);
  const isTimed = one.has("clock") && other.has("clock"); // "7:10 in the morning"
  const alone = those("alone").filter((kind) => !BESIDE.has(kind) && !(isTimed && kind === "daytime"));
  const amounts = alone.filter((kind) => kind === "number" || CURRENCIES.has(kind));
  const isOfOneUnit = amounts.length === 2 && amounts.includes("number") && haveOneEach(amounts, one, other);
  if (!isOfOneUnit) return { differ: those("differ"), overlap: those("overlap"), alone };
  const left = alone.filter((kind) => !amounts.includes(kind));
  return { differ: [...those("differ"), "number"], overlap: those("overlap"), alone: left };
}

function comparedOf(here: ReadonlySet<string> | undefined, there: ReadonlySet<string> | undefined) {
  if (here === undefined || there === undefined) return "alone";
  const both = here.intersection(there).size;
  if (both === 0) return "differ";
  return both === here.size && both === there.size ? "equal" : "overlap";
}

/** "1,150 euros" and "1,230": only one fact names the unit. Another number, too. */
function haveOneEach(kinds: readonly string[], one: Values, other: Values): boolean {
  const [here, there] = [one, other].map((values) => kinds.flatMap((kind) => [...(values.get(kind) ?? [])]));
  return here?.length === 1 && there?.length === 1 && here[0] !== there[0];
}

type Difference = "value" | "name" | "member" | "negation";

/** The only difference that two facts have, if they can be about the same thing at the same time. */
function differenceOf(sides: Sides, values: Compared, isClose: boolean): Difference | undefined {
  const isOfOneSubject = isClose || sides.every(({ hasSubject }) => hasSubject);
  if (!isOfOneSubject || isRuledOut(sides, values)) return undefined;
  const [here, there] = sides;
  const names = here.ownNames + there.ownNames;
  const { differ, alone } = values;
  if (sides.some(({ polarity }) => polarity === "negated"))
    return names + differ.length + alone.length === 0 && areOpposed(here, there) ? "negation" : undefined;
  if (differ.length > 0) return differ.length === 1 && names === 0 ? "value" : undefined;
  return alone.length > 0 ? undefined : differenceOfWords(here, there);
}

function differenceOfWords(here: Side, there: Side): Difference | undefined {
  if (here.isOneOfMany || there.isOneOfMany) return undefined;
  if (haveRivals(here, there)) return "member";
  return here.ownNames === 1 && there.ownNames === 1 ? "name" : undefined;
}

/** The denial says no more than the other: an exception from it is no contradiction. */
function areOpposed(here: Side, there: Side): boolean {
  const [denial, other] = here.polarity === "negated" ? [here, there] : [there, here];
  return other.polarity === "plain" && denial.own.length === 0;
}

function isRuledOut([here, there]: Sides, { overlap, alone }: Compared): boolean {
  if (here.hasOwner || there.hasOwner || here.isPast !== there.isPast) return true;
  if (overlap.length > 0 || alone.some((kind) => SCOPES.has(kind))) return true;
  return [...here.aspects].some((side) => there.aspects.has(opposite(side)));
}

function opposite(side: string): string {
  return side.endsWith("-") ? side.replace("-", "+") : side.replace("+", "-");
}

/** Each has words of its own and little in common, or a compound that the other lacks. */
function areApart([here, there]: Sides, difference: Difference): boolean {
  const ownOf = ({ members, own }: Side) =>
    difference === "member" ? own.filter((term) => !members.has(term)) : own;
  const [mine, theirs] = [ownOf(here), ownOf(there)];
  const isEither =
    (mine.length > 0 && theirs.length + there.ownVerbs.length > 0) ||
    (theirs.length > 0 && mine.length + here.ownVerbs.length > 0);
  const isMuch =
    Math.max(mine.length, theirs.length) > 1 || Math.min(here.share, there.share) < WEIGHTS.conflicts.both;
  if (isEither && isMuch) return true;
  return [here, there].some(({ compounds, kin, shared }) =>
    kin.some((lacking) => shared.some((term) => compounds.has(compound(lacking, term)))),
  );
}

/** Two members of a kind that both facts name, in text or key, or that are all that differs. */
function haveRivals(here: Side, there: Side): boolean {
  const [mine, theirs] = [new Set(termsOf(here.claim.around)), new Set(termsOf(there.claim.around))];
  return [...here.members].some(([member, kinds]) => {
    if (theirs.has(member)) return false;
    return [...there.members].some(([rival, itsKinds]) => {
      if (mine.has(rival) || synonymsOf(member).has(rival)) return false;
      const shared = kinds.filter((kind) => itsKinds.includes(kind));
      const isNamed = shared.some((kind) => mine.has(kind) && theirs.has(kind));
      const isAll = isOnly(member, here.kin) && isOnly(rival, there.kin) && here.shared.length > 0;
      return shared.length > 0 && (isNamed || isAll);
    });
  });
}

function isOnly(term: string, terms: readonly string[]): boolean {
  return terms.length === 1 && terms[0] === term;
}
