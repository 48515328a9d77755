/** Reads the words of a query once, for everything that judges them: what they match, what they ask for, and whether they say anything. */
import { ANSWER_LIMITS } from "../../engine/answer-limits.ts";
import { CONTENT_WORD, commonnessOf, isGerman } from "./commonness.ts";
import { dateTermsOfQuery } from "./dates.ts";
import { separateWordsOf, type Word } from "./words.ts";

export interface Query {
  readonly text: string;
  readonly words: readonly Word[];
  /** Of each word. */
  readonly roles: readonly WordRole[];
}

export interface WordRole {
  /** The share of its weight that the word keeps (recall/analysis/commonness.ts). */
  readonly commonness: number;
  /** Neither a function word nor an everyday one. */
  readonly isTelling: boolean;
  readonly position: number;
  readonly isName: boolean;
  readonly dateTerm: string | undefined;
}

export function readQuery(text: string): Query {
  const query = text.slice(0, ANSWER_LIMITS.queryCharacters);
  const words = separateWordsOf(query);
  const commonness = commonnessOf(words.map((word) => word.text));
  const dates = dateTermsOfQuery(words);
  const showsNames = canShowNames(words);
  const hasLowerCase = /\p{Ll}/u.test(query);
  const roles = words.map((word, position) => {
    const isDistinctive = dates[position] !== undefined || (hasLowerCase && isAcronym(word));
    const common = isDistinctive ? CONTENT_WORD : (commonness[position] ?? CONTENT_WORD);
    const isName = dates[position] === undefined && showsNames && looksLikeName(word, position);
    const isTelling = common === CONTENT_WORD;
    return { commonness: common, isTelling, position, isName, dateTerm: dates[position] };
  });
  return { text: query, words, roles };
}

/** Whether the query has a content word; "what was that about" has none. */
export function isDistinctive({ roles }: Query): boolean {
  return roles.some(({ commonness }) => commonness > 0);
}

/** Capitals mark names only when not every word has one, and not in German, where every noun does. */
function canShowNames(words: readonly Word[]): boolean {
  const capitals = words.filter((word) => /^\p{Lu}/u.test(word.raw)).length;
  return capitals * 2 <= words.length && !isGerman(words.map((word) => word.text));
}

/** "US" is not "us"; but AND, OR and NOT are operators. */
function isAcronym({ raw }: Word): boolean {
  return /^\p{Lu}{2,}$/u.test(raw) && !/^(?:AND|OR|NOT)$/.test(raw);
}

function looksLikeName({ raw }: Word, position: number): boolean {
  const isCapital = position > 0 && /^\p{Lu}\p{L}/u.test(raw);
  return isCapital || /\p{N}{3}|\p{L}\p{N}|\p{N}\p{L}/u.test(raw) || /\p{Ll}\p{Lu}|\p{Lu}{2}/u.test(raw);
}
