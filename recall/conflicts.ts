/**
 * What two facts are to each other: whether they contradict each other, say the same, or are only about near things.
 *
 * Judged by the two texts and keys alone. A contradiction needs the same subject and exactly one difference: another amount, time,
 * date or name, another member of a kind ("yarn", "pnpm"), or a negation. A wrong call costs more than a missed one, so whatever
 * may make both true rules it out: another owner, day or year, a compound ("rent", "rent deposit"), a condition, a list.
 */
import { CONTENT_WORD } from "./analysis/commonness.ts";
import type { Values } from "./analysis/values.ts";
import { type Claim, MANY, opposite, termsOf, VERBS } from "./claims.ts";
import { synonymsOf } from "./lexical/synonyms.ts";
import { isTelling, subjectOf, type TopicWord, weightInCommon, weightsInCommon } from "./topic.ts";
import { WEIGHTS } from "./weights.ts";

export type Relation = "contradict" | "same" | "similar" | "none";

/**
 * The same whichever comes first. Two facts without a word in common take about a microsecond.
 *
 * @param deviations of their similarity from that of unrelated texts, if a model has read both
 */
export function relationOf(one: Claim, other: Claim, deviations?: number): Relation {
  const { apart, close, same } = WEIGHTS.conflicts;
  if ((deviations ?? apart) < apart) return "none";
  if (!one.isAlike(other.said, deviations) && !other.isAlike(one.said, deviations)) return "none";
  const [here, there] = [besides(one, other), besides(other, one)];
  const less = Math.min(here.share, there.share);
  const values = compareValues(one, other);
  if (less < same && !leaveRoom(values)) return "similar";
  const pair = [facing(here), facing(there)] as const;
  const isClose = (deviations ?? apart) >= close;
  const difference = differenceOf(pair, values, isClose);
  if (difference === undefined)
    return less >= same && one.polarity === other.polarity && areAllSaid(pair, values) ? "same" : "similar";
  return isAbout(pair, difference, isClose) && !haveOwn(pair, difference) ? "contradict" : "similar";
}

/** Whether they have enough in common for this difference; a model that sees them close needs fewer common words. */
function isAbout(pair: Pair, difference: Difference, isClose: boolean): boolean {
  const [here, there] = pair;
  const { share, most } = WEIGHTS.conflicts.least[difference];
  const less = Math.min(here.share, there.share);
  if (isClose) return less >= share * WEIGHTS.conflicts.closer;
  const isOfOne = difference === "change" || !isCompoundOf(pair);
  return less >= share && Math.max(here.share, there.share) >= most && isOfOne;
}

/** Nearly all words of one are in the other, most of the other's in it, and no value of both differs. */
export function isNearCopy(one: Claim, other: Claim): boolean {
  const [less = 0, more = 0] = [shareOf(one, other), shareOf(other, one)].sort((a, b) => a - b);
  const { shared, words } = WEIGHTS.copies;
  if (Math.min(one.topic.length, other.topic.length) < words) return false;
  const differs = [...one.values].some(([kind, values]) => {
    const theirs = other.values.get(kind);
    return theirs !== undefined && theirs.symmetricDifference(values).size > 0;
  });
  return more >= shared && less >= shared / 2 && !differs;
}

function shareOf(one: Claim, other: Claim): number {
  return weightInCommon(one.topic, one.readings, other.topic) / Math.max(1, sumOf(one.topic, "weight"));
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

interface Facing extends Beside {
  readonly hasSubject: boolean;
  readonly hasOwner: boolean;
  /** The terms of content words that the other lacks, and of verbs. */
  readonly own: readonly string[];
  readonly ownVerbs: readonly string[];
  /** The same as `own`, and those of which the other has only the kind, or a member. */
  readonly unlike: readonly string[];
  /** The terms that the other has. */
  readonly shared: readonly string[];
  /** Whether a content word is among them. */
  readonly sharesMatter: boolean;
}

type Pair = readonly [Facing, Facing];

function facing(beside: Beside): Facing {
  const { claim, words } = beside;
  const { owners } = claim;
  const lacking = words.filter(({ common }) => common === 0);
  const subject = subjectOf(words);
  const isShared = ({ common, weight }: ComparedWord) => common >= WEIGHTS.words.related * weight;
  return {
    ...beside,
    hasSubject:
      !claim.speaksOf || subject === undefined || subject.weight < CONTENT_WORD || !lacking.includes(subject),
    hasOwner: termsOf(lacking).some((term) => owners.has(term)),
    own: termsOf(lacking.filter(isTelling)).filter((term) => term.length > 1),
    ownVerbs: termsOf(lacking).filter((term) => VERBS.has(term)),
    unlike: termsOf(words.filter((word) => !isShared(word) && isTelling(word))),
    shared: termsOf(words.filter(isShared)),
    sharesMatter: words.some((word) => isShared(word) && isTelling(word) && !word.terms[0]?.startsWith(":")),
  };
}

function areAllSaid([here, there]: Pair, { differ, overlap, alone }: Compared): boolean {
  const isSaid = ({ ownNames, hasOwner }: Facing) => ownNames === 0 && !hasOwner;
  const isMore = here.unlike.length > 0 && there.unlike.length > 0;
  return differ.length + overlap.length + alone.length === 0 && isSaid(here) && isSaid(there) && !isMore;
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

/** What says together when something is. */
const TIMES = new Set(["clock", "weekday", "date"]);
/** Since when something is so. */
const SINCE = new Set(["month", "year", "date", "ordinal", "daytime"]);

function compareValues(
  { values: one, isChange, isEnd }: Claim,
  { values: other, isChange: isOther, isEnd: isOver }: Claim,
): Compared {
  const compared = comparedKinds(one, other);
  if (isEnd || isOver) return { ...compared, alone: [] };
  const times = compared.differ.filter((kind) => TIMES.has(kind));
  const differ = [...times.slice(0, 1), ...compared.differ.filter((kind) => !TIMES.has(kind))];
  if (!isChange && !isOther) return { ...compared, differ };
  const before = isChange ? other : one;
  const isAside = (kind: string) => before.has(kind) || SINCE.has(kind);
  return { ...compared, differ, alone: compared.alone.filter((kind) => !isAside(kind)) };
}

function comparedKinds(one: Values, other: Values): Compared {
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

type Difference = "value" | "name" | "member" | "negation" | "change";

/** The only difference that two facts have, if they can be about the same thing at the same time. */
function differenceOf(pair: Pair, values: Compared, isClose: boolean): Difference | undefined {
  const isOfOneSubject = isClose || pair.every(({ hasSubject }) => hasSubject);
  if (!isOfOneSubject || !leaveRoom(values) || isRuledOut(pair)) return undefined;
  if (pair.some(({ claim }) => claim.polarity === "negated")) return denialOf(pair, values);
  const [here, there] = pair;
  const { differ, alone } = values;
  const names = here.ownNames + there.ownNames;
  const isChange = here.claim.isChange || there.claim.isChange;
  if (isChange && here.claim.hasState && there.claim.hasState && names > 1) return "change";
  const rivals = rivalsOf(here, there);
  const isVersion = rivals !== undefined && differ.every((kind) => kind === "number" || kind === "named");
  if (differ.length > 0 && !isVersion) return differ.length === 1 && names === 0 ? "value" : undefined;
  if (rivals !== undefined) return rivals;
  return alone.length > 0 ? undefined : differenceOfWords(here, there);
}

function differenceOfWords(here: Facing, there: Facing): Difference | undefined {
  if (here.claim.isOneOfMany || there.claim.isOneOfMany) return undefined;
  if (isReplaced(here, there) || areElsewhere(here, there)) return "change";
  return here.ownNames === 1 && there.ownNames === 1 ? "name" : undefined;
}

/** "We moved the API to Hetzner" leaves of "the API is hosted on AWS" all but what was replaced. */
function isReplaced(here: Facing, there: Facing): boolean {
  if (!here.claim.isChange && !there.claim.isChange) return false;
  const [change, before] = here.claim.isChange ? [here, there] : [there, here];
  if (before.shared.some((term) => change.claim.replaced.has(term))) return true;
  const [said, replaced] = [change, before].map(
    ({ own, ownNames }) => own.filter((term) => !/^\d+$/.test(term)).length + ownNames,
  ) as [number, number]; // two
  return before.sharesMatter && replaced === 1 && said > 0 && said <= 2;
}

function areElsewhere(here: Facing, there: Facing): boolean {
  const isOnly = ({ claim, unlike }: Facing) => unlike.length === 1 && unlike[0] === claim.place;
  return isOnly(here) && isOnly(there) && here.sharesMatter;
}

/** The denial says no more than the other: an exception from it is no contradiction. Of what is over, the other may say more. */
function denialOf(
  [here, there]: Pair,
  { differ, alone }: Compared,
): Extract<Difference, "change" | "negation"> | undefined {
  const [denial, other] = here.claim.polarity === "negated" ? [here, there] : [there, here];
  const isOver = denial.claim.isEnd && denial.sharesMatter;
  const isSaid = isOver
    ? other.claim.polarity !== "negated"
    : other.claim.polarity === "plain" && alone.length + other.ownNames === 0;
  if (!isSaid || differ.length + denial.own.length + denial.ownNames > 0) return undefined;
  return here.claim.isEnd || there.claim.isEnd ? "change" : "negation";
}

function isRuledOut([here, there]: Pair): boolean {
  const [one, other] = [here.claim, there.claim];
  if (here.hasOwner || there.hasOwner || one.isPast !== other.isPast) return true;
  return [...one.aspects].some((side) => other.aspects.has(opposite(side)));
}

/** For a single difference. In summer and in winter something else may be true. */
function leaveRoom({ differ, overlap, alone }: Compared): boolean {
  const isOtherwise = differ.includes("daytime") || differ.includes("year");
  return differ.length < 2 && overlap.length === 0 && !isOtherwise && !alone.some((kind) => SCOPES.has(kind));
}

function ownOf({ claim, own }: Facing, difference: Difference): readonly string[] {
  return difference === "member" ? own.filter((term) => !claim.members.has(term)) : own;
}

/** Each has a word of its own: then both may be true. */
function haveOwn([here, there]: Pair, difference: Difference): boolean {
  if (difference === "change") return false;
  const [mine, theirs] = [ownOf(here, difference), ownOf(there, difference)];
  return (
    (mine.length > 0 && theirs.length + there.ownVerbs.length > 0) ||
    (theirs.length > 0 && mine.length + here.ownVerbs.length > 0)
  );
}

/** A compound that the other lacks: "rent", "rent deposit". */
function isCompoundOf([here, there]: Pair): boolean {
  return [here, there].some(({ claim, unlike, shared }) =>
    unlike.some((lacking) => shared.some((term) => claim.isCompound(lacking, term))),
  );
}

/** Two members of a kind that both facts name, in text or key, or that are what differs. */
function rivalsOf(here: Facing, there: Facing): "member" | "change" | undefined {
  if (here.claim.isOneOfMany || there.claim.isOneOfMany) return undefined;
  const [mine, theirs] = [new Set(termsOf(here.claim.around)), new Set(termsOf(there.claim.around))];
  const own = [...here.claim.members].filter(([member]) => !theirs.has(member));
  const its = [...there.claim.members].filter(([rival]) => !mine.has(rival));
  const isNamed = (kind: string) => mine.has(kind) && theirs.has(kind);
  const found = own.flatMap((one) => its.map((other) => rivalry([here, there], one, other, isNamed)));
  return found.find((how) => how === "change") ?? found.find((how) => how !== undefined);
}

type Member = readonly [term: string, kinds: readonly string[]];

function rivalry(
  [here, there]: Pair,
  [member, kinds]: Member,
  [rival, itsKinds]: Member,
  isNamed: (kind: string) => boolean,
): "member" | "change" | undefined {
  const shared = kinds.filter((kind) => itsKinds.includes(kind));
  if (shared.length === 0 || synonymsOf(member).has(rival)) return undefined;
  const isOther = (term: string) => term !== member && term !== rival && !shared.includes(term);
  const others = [here, there].filter(({ unlike }) => unlike.some(isOther)).length;
  const isOfMany =
    shared.length < Math.max(kinds.length, itsKinds.length) || shared.some((kind) => MANY.has(kind));
  const isSaid = here.sharesMatter || (others === 0 && (here.claim.isChange || there.claim.isChange));
  const areNamed = shared.some(isNamed);
  if (!isOfMany && isSaid && (others === 0 || (others === 1 && !areNamed))) return "change";
  return areNamed || (others === 0 && here.shared.length > 0) ? "member" : undefined;
}
