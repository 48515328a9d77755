/**
 * What two facts are to each other: whether they contradict each other, say the same, or are only about near things.
 *
 * Judged by the two texts and keys alone. A contradiction needs the same subject and exactly one difference: another amount, time,
 * date or name, another member of a kind ("yarn", "pnpm"), or a negation. A wrong call costs more than a missed one, so whatever
 * may make both true rules it out: another owner, day or year, a compound ("rent", "rent deposit"), a condition, a list.
 */
import { CONTENT_WORD } from "./analysis/commonness.ts";
import type { Values } from "./analysis/values.ts";
import { type Claim, opposite, termsOf, VERBS } from "./claims.ts";
import { synonymsOf } from "./lexical/synonyms.ts";
import { isTelling, subjectOf, type TopicWord, weightsInCommon } from "./topic.ts";
import { WEIGHTS } from "./weights.ts";

export type Relation = "contradict" | "same" | "near" | "none";

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
  const values = compareValues(one.values, other.values);
  if (less < same && !leaveRoom(values)) return "near";
  const pair = [facing(here), facing(there)] as const;
  const isClose = (deviations ?? apart) >= close;
  const difference = differenceOf(pair, values, isClose);
  if (difference === undefined)
    return less >= same && one.polarity === other.polarity && areAllSaid(pair, values) ? "same" : "near";
  const { share, most } = least[difference];
  const isAbout = isClose
    ? less >= share * closer
    : less >= share && more >= most && !areApart(pair, difference);
  return isAbout ? "contradict" : "near";
}

/** Whether {@link relationOf} says so, and sooner if too many values differ. */
export function contradict(one: Claim, other: Claim, deviations?: number): boolean {
  const mayDiffer = leaveRoom(compareValues(one.values, other.values));
  return mayDiffer && relationOf(one, other, deviations) === "contradict";
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
}

type Pair = readonly [Facing, Facing];

function facing(beside: Beside): Facing {
  const { claim, words } = beside;
  const lacking = words.filter(({ common }) => common === 0);
  const subject = subjectOf(words);
  const isShared = ({ common, weight }: ComparedWord) => common >= WEIGHTS.words.related * weight;
  return {
    ...beside,
    hasSubject:
      !claim.speaksOf || subject === undefined || subject.weight < CONTENT_WORD || !lacking.includes(subject),
    hasOwner: hasOwner(claim, termsOf(lacking)),
    own: termsOf(lacking.filter(isTelling)),
    ownVerbs: termsOf(lacking).filter((term) => VERBS.has(term)),
    unlike: termsOf(words.filter((word) => !isShared(word) && isTelling(word))),
    shared: termsOf(words.filter(isShared)),
  };
}

function hasOwner({ owners }: Claim, terms: readonly string[]): boolean {
  return terms.some((term) => owners.has(term));
}

function areAllSaid([here, there]: Pair, { differ, overlap, alone }: Compared): boolean {
  const isSaid = ({ ownNames, hasOwner }: Facing) => ownNames === 0 && !hasOwner;
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
function differenceOf(pair: Pair, values: Compared, isClose: boolean): Difference | undefined {
  const isOfOneSubject = isClose || pair.every(({ hasSubject }) => hasSubject);
  if (!isOfOneSubject || !leaveRoom(values) || isRuledOut(pair)) return undefined;
  const [here, there] = pair;
  const names = here.ownNames + there.ownNames;
  const { differ, alone } = values;
  if (pair.some(({ claim }) => claim.polarity === "negated"))
    return names + differ.length + alone.length === 0 && areOpposed(here, there) ? "negation" : undefined;
  if (differ.length > 0) return differ.length === 1 && names === 0 ? "value" : undefined;
  return alone.length > 0 ? undefined : differenceOfWords(here, there);
}

function differenceOfWords(here: Facing, there: Facing): Difference | undefined {
  if (here.claim.isOneOfMany || there.claim.isOneOfMany) return undefined;
  if (haveRivals(here, there)) return "member";
  return here.ownNames === 1 && there.ownNames === 1 ? "name" : undefined;
}

/** The denial says no more than the other: an exception from it is no contradiction. */
function areOpposed(here: Facing, there: Facing): boolean {
  const [denial, other] = here.claim.polarity === "negated" ? [here, there] : [there, here];
  return other.claim.polarity === "plain" && denial.own.length === 0;
}

function isRuledOut([here, there]: Pair): boolean {
  const [one, other] = [here.claim, there.claim];
  if (here.hasOwner || there.hasOwner || one.isPast !== other.isPast) return true;
  return [...one.aspects].some((side) => other.aspects.has(opposite(side)));
}

/** For a single difference. */
function leaveRoom({ differ, overlap, alone }: Compared): boolean {
  return differ.length < 2 && overlap.length === 0 && !alone.some((kind) => SCOPES.has(kind));
}

/** Each has words of its own and little in common, or a compound that the other lacks. */
function areApart([here, there]: Pair, difference: Difference): boolean {
  const ownOf = ({ claim, own }: Facing) =>
    difference === "member" ? own.filter((term) => !claim.members.has(term)) : own;
  const [mine, theirs] = [ownOf(here), ownOf(there)];
  const isEither =
    (mine.length > 0 && theirs.length + there.ownVerbs.length > 0) ||
    (theirs.length > 0 && mine.length + here.ownVerbs.length > 0);
  const isMuch =
    Math.max(mine.length, theirs.length) > 1 || Math.min(here.share, there.share) < WEIGHTS.conflicts.both;
  if (isEither && isMuch) return true;
  return [here, there].some(({ claim, unlike, shared }) =>
    unlike.some((lacking) => shared.some((term) => claim.isCompound(lacking, term))),
  );
}

/** Two members of a kind that both facts name, in text or key, or that are all that differs. */
function haveRivals(here: Facing, there: Facing): boolean {
  const [mine, theirs] = [new Set(termsOf(here.claim.around)), new Set(termsOf(there.claim.around))];
  return [...here.claim.members].some(([member, kinds]) => {
    if (theirs.has(member)) return false;
    return [...there.claim.members].some(([rival, itsKinds]) => {
      if (mine.has(rival) || synonymsOf(member).has(rival)) return false;
      const shared = kinds.filter((kind) => itsKinds.includes(kind));
      const isNamed = shared.some((kind) => mine.has(kind) && theirs.has(kind));
      const isAll = isOnly(member, here.unlike) && isOnly(rival, there.unlike) && here.shared.length > 0;
      return shared.length > 0 && (isNamed || isAll);
    });
  });
}

function isOnly(term: string, terms: readonly string[]): boolean {
  return terms.length === 1 && terms[0] === term;
}
