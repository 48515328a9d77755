/** Reads the words of a query once, for everything that judges them: what they match, what they ask for, and whether they say anything. */
import { ANSWER_LIMITS } from "../../engine/answer-limits.ts";
import { CONTENT_WORD, commonnessOf, isGerman } from "./commonness.ts";
import { dateTermsOfQuery } from "./dates.ts";
import { termOf } from "./english.ts";
import { dictionaryWords, separateWordsOf, type Word, wordsOf } from "./words.ts";

export interface Query {
  readonly text: string;
  readonly words: readonly Word[];
  /** Of each word. */
  readonly roles: readonly WordRole[];
  /** Whether it is only a name, or asks for everything about one: then every text that has the name answers. */
  readonly asksAll: boolean;
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
  const query = text.slice(0, ANSWER_LIMITS.queryCharacters).replace(COURTESY, "");
  const words = separateWordsOf(query);
  const commonness = commonnessOf(words.map((word) => word.text));
  const dates = dateTermsOfQuery(words);
  // Capitals mark names only when not every word has one, and not in German, where every noun does.
  const capitals = words.filter((word) => /^\p{Lu}/u.test(word.raw)).length;
  const showsNames = capitals * 2 <= words.length && !isGerman(words.map((word) => word.text));
  const hasLowerCase = /\p{Ll}/u.test(query);
  const roles = words.map((word, position) => {
    const isDistinctive = dates[position] !== undefined || (hasLowerCase && isAcronym(word));
    const common = isDistinctive ? CONTENT_WORD : (commonness[position] ?? CONTENT_WORD);
    const isName = dates[position] === undefined && showsNames && looksLikeName(word, position);
    const isTelling = common === CONTENT_WORD;
    return { commonness: common, isTelling, position, isName, dateTerm: dates[position] };
  });
  return { text: query, words, roles, asksAll: asksAll(query, roles) };
}

/** Says only that a memory is asked. English, German, Spanish and French, as are the lists below. */
const COURTESY =
  /(?<=\bdid (?:I|we|you)) (?:store|save|note)\b|[\s,]*\b(?:in (?:my |your |the )?memory|im Gedächtnis|en (?:la )?memoria|en mémoire|please|bitte|por favor|s['’]il (?:te|vous) plaît)(?=[\s?!.]*$)/iu;
const ABOUT =
  /(?<!\p{L})(?:about|everything|anything|all|über|ueber|alles|sobre|acerca|todo|sur|propos|tout)(?!\p{L})/iu;
const ASKS_ONE =
  /(?<!\p{L})(?:when|where|who|whom|whose|how|why|which|wann|wo|wer|wem|wie|warum|welche[rsmn]?|cuándo|dónde|quién|cómo|cuál|quand|où|qui|comment|pourquoi|quel(?:le)?s?)(?!\p{L})/iu;
const LONGEST_NAME = 3;

function asksAll(query: string, roles: readonly WordRole[]): boolean {
  const content = roles.filter(({ commonness }) => commonness > 0);
  const telling = content.filter(({ isTelling }) => isTelling).length;
  if (telling === 0 || telling > LONGEST_NAME || ASKS_ONE.test(query)) return false;
  return content.length === roles.length || ABOUT.test(query);
}

/** The most parts of a question that are asked by themselves, and the longest question that is taken apart. */
const MOST_PARTS = 3;
const LONGEST_LIST = 240;
const BETWEEN =
  /[?!;:]\s+|[.,]\s+|\s\+\s|,?\s(?:and|und|sowie|y|e|et|as well as)\s(?:also\s|auch\s|también\s|aussi\s)?/iu;

const DETERMINED =
  /^(?:the|my|our|your|his|her|their|der|die|das|mein|unser|el|la|los|las|mis?|nuestr[oa]s?|le|les|mon|ma|mes|notre|nos)(?:e[nrms]?)?\s|^(?:(?:what|who|where|when|how|was|wer|wo|wann|wie|qué|quién|dónde|cuándo|cómo|que|qui|où|quand|comment)(?:['’]s|\s(?:is|are|was|were|ist|sind|es|son|está|están|est|sont)))\s/iu;

/** "Salt and Trade" is one thing; a clause or an item of a list has two content words, an article, or asks what something is. */
function saysSomething({ text, roles }: Query): boolean {
  const content = roles.filter(({ commonness }) => commonness > 0);
  return (
    content.some(({ isTelling }) => isTelling) &&
    (content.length > 1 || ABOUT.test(text) || DETERMINED.test(text))
  );
}

const AND = /^(?:and|und|y|et)\s+(?:(?:also|auch|también|aussi)\s+)?/iu;

/** The clauses and items of a question that says several things; none if it says one. */
export function partsOf({ text, asksAll: isName }: Query): readonly Query[] {
  if (isName || text.length > LONGEST_LIST) return [];
  const parts = text
    .split(BETWEEN)
    .map((part) => readQuery(part.replace(AND, "")))
    .filter(saysSomething);
  return parts.length > 1 && parts.length <= MOST_PARTS ? parts : [];
}

/** Whether the query has a content word; "what was that about" has none. */
export function isDistinctive({ roles }: Query): boolean {
  return roles.some(({ commonness }) => commonness > 0);
}

/** "US" is not "us"; but AND, OR and NOT are operators. */
function isAcronym({ raw }: Word): boolean {
  return /^\p{Lu}{2,}$/u.test(raw) && !/^(?:AND|OR|NOT)$/.test(raw);
}

function looksLikeName({ raw }: Word, position: number): boolean {
  const isCapital = position > 0 && /^\p{Lu}\p{L}/u.test(raw);
  return isCapital || /\p{N}{3}|\p{L}\p{N}|\p{N}\p{L}/u.test(raw) || /\p{Ll}\p{Lu}|\p{Lu}{2}/u.test(raw);
}

/** Shorter substrings occur in almost every text. */
const LEAST_LETTERS = 3;

/** Word beginnings for a source that only offers substring search: lower-cased, most telling first; none of function words. */
export function substringsOf(question: string, most: number): readonly string[] {
  const words = wordsOf(question);
  const commonness = commonnessOf(words.map(({ text }) => text));
  const telling = words
    .map((word, at) => ({ word, weight: commonness[at] ?? CONTENT_WORD }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight);
  return [...new Set(telling.flatMap(({ word }) => beginningsOf(word)))].slice(0, most);
}

function beginningsOf({ raw, text, unspaced }: Word): readonly string[] {
  if (unspaced) return dictionaryWords(raw);
  const written = raw.toLowerCase();
  const stem = termOf(text);
  let shared = 0;
  while (shared < stem.length && stem[shared] === written[shared]) shared += 1;
  return [shared < LEAST_LETTERS ? written : written.slice(0, shared)];
}
