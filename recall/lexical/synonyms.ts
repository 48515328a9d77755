/**
 * A small English thesaurus of software work and daily life (recall/data/thesaurus.json): people forget with which word they stored
 * something. Stems are compared, so an entry covers all forms of its words. Synonyms apply to queries only, as weaker evidence than
 * the word itself; in keyword search, synonyms alone produce possible hits at most.
 *
 * To extend: a line of `same` holds words that are interchangeable in most sentences, so "set", which has many senses, is in
 * none. In `kinds`, a query for the kind matches any member, and a query for a member matches the kind, but members are not synonyms
 * of each other. Add only generally true entries, never entries for one memory or one test set.
 */
import { termOf } from "../analysis/english.ts";
import thesaurus from "../data/thesaurus.json" with { type: "json" };
import { WEIGHTS } from "../weights.ts";

interface KnownWord {
  readonly term: string;
  readonly word: string;
}

export interface Synonym {
  readonly word: string;
  /** 1 for a synonym, less for a kind and its members, least for a member of several kinds, such as "fish". */
  readonly closeness: number;
}

type Synonyms = Map<string, Map<string, Synonym>>;

const NO_SYNONYMS: ReadonlyMap<string, Synonym> = new Map();
/** By term; loaded with the first question. */
let synonymsByTerm: Synonyms | undefined;

/** The synonyms of a term, by their terms, closest first; most terms have none. */
export function synonymsOf(term: string): ReadonlyMap<string, Synonym> {
  synonymsByTerm ??= readSynonyms();
  return synonymsByTerm.get(term) ?? NO_SYNONYMS;
}

let kindsByTerm: ReadonlyMap<string, readonly string[]> | undefined;

/** The kinds, by their terms, that a term is a member of: of "yarn" those of package managers. Most terms have none. */
export function kindsOf(term: string): readonly string[] {
  kindsByTerm ??= readKinds();
  return kindsByTerm.get(term) ?? [];
}

function readKinds(): ReadonlyMap<string, readonly string[]> {
  const kinds = new Map<string, string[]>();
  for (const { kind, members } of thesaurus.kinds)
    for (const { term } of wordsIn(members))
      kinds.set(term, [...(kinds.get(term) ?? []), ...wordsIn(kind).map((one) => one.term)]);
  return kinds;
}

function readSynonyms(): Synonyms {
  const synonyms: Synonyms = new Map();
  for (const words of thesaurus.same.map(wordsIn)) relate(synonyms, words, words, 1);
  const kinds = thesaurus.kinds.map(({ kind, members }) => ({
    kind: wordsIn(kind),
    members: wordsIn(members),
  }));
  const { kind: ofKind } = WEIGHTS.words;
  for (const { kind, members } of kinds) {
    for (const member of members) {
      const closeness = isOfOtherKind(member, kind, kinds) ? ofKind ** 2 : ofKind;
      relate(synonyms, kind, [member], closeness);
      relate(synonyms, [member], kind, closeness);
    }
  }
  return synonyms;
}

/** "fish" is a pet, a food and a shell; "pasta" is a food, a dish and a meal. */
function isOfOtherKind(
  { term }: KnownWord,
  kind: readonly KnownWord[],
  kinds: readonly { readonly kind: readonly KnownWord[]; readonly members: readonly KnownWord[] }[],
): boolean {
  const related = new Set(kind.map((word) => word.term));
  return kinds.some((other) => {
    const isSame = other.kind.some((word) => related.has(word.term));
    return !isSame && other.members.some((member) => member.term === term);
  });
}

function relate(
  synonyms: Synonyms,
  from: readonly KnownWord[],
  to: readonly KnownWord[],
  closeness: number,
): void {
  for (const { term } of from) {
    const known = synonyms.get(term) ?? new Map<string, Synonym>();
    for (const { term: other, word } of to)
      if (other !== term && !known.has(other)) known.set(other, { word, closeness });
    synonyms.set(term, known);
  }
}

function wordsIn(line: string): readonly KnownWord[] {
  return line.split(" ").map((word) => ({ term: termOf(word), word }));
}
