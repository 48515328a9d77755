/**
 * What a question asks for, as far as its words tell: whose matter, what kind of answer, and which noun. A text that lacks it is
 * about the same thing at most: "Mum turns 70 on May 2" does not say when dad's birthday is.
 */
import thesaurus from "../data/thesaurus.json" with { type: "json" };
import { commonnessOf, FUNCTION_WORD, isEnglish } from "./commonness.ts";
import { dateTermsOfQuery } from "./dates.ts";
import { termOf } from "./english.ts";
import type { Query } from "./query.ts";
import { type Word, wordsOf } from "./words.ts";

interface Reading {
  /** The person or thing whose matter is asked about. */
  readonly owner: boolean;
  /** A time, a number, a name or the like, if that is asked for. */
  readonly answer: boolean;
  /** The noun after "which" or "what". */
  readonly noun: boolean;
  /** Everything but the person or thing. */
  readonly matter: boolean;
  /** Whether somebody asks about themselves, and the text is about its writer. */
  readonly ofAsker: boolean;
}

/** `isAbout`: whether a text has a word, or a synonym of it. */
export type Judge = (text: string, isAbout: (word: string) => boolean) => Reading;

/** Undefined if the question asks for none of these, or is not English. */
export function judgeFor(question: Query): Judge | undefined {
  const { text: asking, words, roles } = question;
  if (!isEnglish(asking)) return undefined;
  const owners = ownersIn(question);
  const noun = nounIn(words);
  const wanted = WANTED.find(([asks]) => asks.test(asking))?.[1];
  const isOfAsker = OF_ASKER.test(asking);
  if (owners.length === 0 && noun === undefined && wanted === undefined && !isOfAsker) return undefined;
  const asked = new Set(words.map(({ text }) => termOf(text)));
  const content = words.filter((_word, place) => roles[place]?.commonness !== FUNCTION_WORD);
  const rest = content.map(({ text }) => text).filter((text) => !owners.includes(text));
  return (text, isAbout) => ({
    owner: owners.some((owner) => !isAbout(owner)),
    answer: typeof wanted === "function" ? !wanted(text, { asked, isAbout }) : wanted?.test(text) === false,
    noun: noun !== undefined && !isAbout(noun),
    matter: owners.length > 0 && rest.length > 0 && !rest.some(isAbout),
    ofAsker: isOfAsker && OF_WRITER.test(text),
  });
}

const OF_ASKER = /\b(?:I|me|my|mine|we|us|our|ours)\b/i;
/** Agents write "User lives in Graz", and people "Name: Jonas, lives in Graz". */
const OF_WRITER = new RegExp(`${OF_ASKER.source}|\\b(?:user|name)\\b`, "i");
/** From a word's start on: otherwise a long word would be read anew from each of its letters. */
const POSSESSIVE = /(?<![\p{L}\p{M}])([\p{L}\p{M}]+)['’]s(?!\p{L})/gu;
/** People whom a fact names by their role. */
const ROLES = new Set(
  [
    ...thesaurus.kinds
      .filter(({ kind }) => /family|sibling|child|parent|spouse/.test(kind))
      .flatMap(({ kind, members }) => `${kind} ${members}`.split(" ")),
    ..."dad mum mom boss manager landlord neighbour neighbor friend colleague grandma grandpa granddad kid".split(
      " ",
    ),
  ].map(termOf),
);

/** Whether a term names a person by their role, such as "mum" or "landlord". */
export function isRole(term: string): boolean {
  return ROLES.has(term);
}

/** "Sanne" in "Sanne's phone" and "how old is Sanne", "dad" in "when does dad retire". */
function ownersIn({ text: question, words, roles }: Query): readonly string[] {
  const possessive = new Set([...question.matchAll(POSSESSIVE)].map(([, owner = ""]) => owner));
  const owners = words.filter(({ raw, text }, place) => {
    if (ROLES.has(termOf(text))) return true;
    const { isName = false, isTelling = false } = roles[place] ?? {};
    return isTelling && (possessive.has(raw) || (isName && NAME.test(raw) && !WEEKDAY.test(raw)));
  });
  return owners.map(({ text }) => text);
}

const CAPITAL = /^\p{Lu}/u;
const NAME = /^\p{Lu}\p{Ll}+$/u;
const WEEKDAY = /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?$/;
const BEFORE_NOUN = /^(?:the|my|our|your|his|her|their|a|an|kind|sort|type|of)$/;
const VERBS =
  /^(?:is|are|was|were|am|be|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must|i|we|you|it|s|re)$/;
const AFTER_NOUN = /^(?:of|for|in|at|on|with|by|from|to|when|that|again|if|about)$/;

/** "hotel" in "which hotel do we take", "number" in "what's the number of the gym". */
function nounIn(words: readonly Word[]): string | undefined {
  const at = words.findIndex(({ text }) => text === "what" || text === "which" || text === "whats");
  const next = words[at + 1]?.text;
  if (at === -1 || next === undefined) return undefined;
  const isAttribute = /^(?:is|are|was|were|s)$/.test(next) || words[at]?.text === "whats";
  const noun = isAttribute ? lastOfPhrase(words.slice(at + 1)) : VERBS.test(next) ? undefined : next;
  return noun === undefined || commonnessOf([noun])[0] === FUNCTION_WORD ? undefined : noun;
}

function lastOfPhrase(words: readonly Word[]): string | undefined {
  let last: string | undefined;
  for (const { text } of words) {
    if (AFTER_NOUN.test(text) && last !== undefined) break;
    if (!AFTER_NOUN.test(text) && !VERBS.test(text) && !BEFORE_NOUN.test(text)) last = text;
  }
  return last;
}

/** What a question asks, and how a text's answer looks. */
type Wanted = readonly [asks: RegExp, answer: RegExp | ((text: string, question: Question) => boolean)];

interface Question {
  /** The terms of its words. */
  readonly asked: ReadonlySet<string>;
  readonly isAbout: (word: string) => boolean;
}

const COUNTS =
  "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|half|dozen|hundred|thousand";
const orOneOf = (pattern: RegExp | string, words: string) =>
  new RegExp(`${typeof pattern === "string" ? pattern : pattern.source}|\\b(?:${words})\\b`, "iu");
/** Not the digits of "V50". */
const NUMBER = orOneOf("(?<![\\p{L}\\d])\\d", `${COUNTS}|once|twice|single|no|none|both|pair|couple`);
const AGE = orOneOf(NUMBER, "born|birthday|baby|newborn|teenager");
const AMOUNT = orOneOf(NUMBER, "free|cheap|expensive");
const SIZES = "small|medium|large|wide|narrow|tall|big|tiny|huge|king|queen|double|XS|S|M|L|XX?L";
const SIZE = orOneOf(NUMBER, SIZES);
const COLOUR =
  /\b(?:red|green|blue|yellow|black|white|gr[ae]y|brown|orange|purple|violet|pink|silver|gold|golden|beige|cream|navy|turquoise|teal|mint|maroon|crimson|lilac|magenta|cyan|dark|light|blonde?|ginger|#[0-9a-f]{3,8})\b|#[0-9a-f]{3}/i;
const CLOCK = new RegExp(
  `\\d[:.h]\\d\\d|\\b\\d{1,2} ?(?:am|pm|o'clock|h\\b)|\\b(?:noon|midnight|midday|morning|evening|afternoon|night|lunch|dawn|sunset)s?\\b|\\b(?:at|by|until|till|before|after|from|to|up|around) (?:${COUNTS}|\\d{1,2})\\b|\\b(?:half past|quarter)\\b`,
  "i",
);
const DAY =
  /\b(?:mon|tue|wed|thu|fri|sat|sun)(?:s|r|rs|day|sday|nesday|rsday|urday)?s?\b|\b(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|january|february|march|april|may|june|july|august|september|october|november|december)\b|\b(?:morning|evening|afternoon|night|noon|midday|week|weekend|weekday|month|year|quarter|spring|summer|autumn|winter|fall|easter|christmas|tomorrow|yesterday|today|birthday|day)s?\b|\b(?:daily|weekly|monthly|yearly|before|after|until|when|once|always|never|every|each|since|soon|later|first|last)\b/i;
const WHEN = new RegExp(
  `${DAY.source}|\\b(?:19|20)\\d\\d\\b|\\b\\d{1,2}(?:st|nd|rd|th|[ap]m| [ap]m)\\b|\\d[:/.-]\\d|\\b(?:at|by|from|till|past|around) \\d|\\bago\\b`,
  "i",
);
const DURATION = new RegExp(
  `(?:\\d|\\b(?:${COUNTS}|a|an|few|several|couple of)\\b)[ -]*(?:\\w+ ){0,2}(?:sec|min|hour|hr|h\\b|day|week|month|year|night|quarter|sprint|line|word|page|sentence|met|km|cm|mm|mile|feet|inch|character)|\\b(?:until|till|to|forever|always|short|long|brief|from|between|since)\\b|\\d ?[-–] ?\\d|\\d[mhdw]\\b`,
  "i",
);
const OFTEN =
  /\b(?:every|each|per|once|twice|times|daily|hourly|weekly|fortnightly|monthly|quarterly|yearly|annual(?:ly)?|always|never|often|rarely|regularly|nightly|other)\b|\b\w+days\b|\b(?:mornings|evenings|weekends)\b|\ba (?:day|week|month|year)\b/i;
const ASKS_MEANING = /^(?:mean|stand|defin|explain|abbrevi)/;
const MEANING = /\b(?:means?|meaning|stands? for|short for|abbreviat\w+|refers? to|defined)\b/i;
const STARTS = /^(?:The|A|An|My|Our|I|In|On|At|For|Every|No|We|It|If|Never|Always|All)$/;
const PERSON =
  /\b(?:team|lead|boss|everyone|nobody|anyone|he|she|they|him|her|group|department|company|agency|authority|staff|people|person|doctor|coach|mentor|advis[eo]r|(?:teach|train|driv|plumb|carpent|garden|clean|lawy|engine|own|sitt|bak|paint|build|design|develop|maintain)e?ers?|\w+(?:ist|ian)s?)\b/i;

/** The first that a question matches. English only: other questions ask for nothing here. */
const WANTED: readonly Wanted[] = [
  [
    /\b(?:define|definition|expression|stands? for)\b|^(?:please )?(?:explain|translate|convert|calculate)\b|^what(?:['’]?s| is| are) an? (?!.*\b(?:my|our|we|us)\b)|\bdoes .*\bmean\b/i,
    (text, question) => MEANING.test(text) || isWholly(question),
  ],
  [/\bhow old\b/i, AGE],
  [/\bhow (?:many|tall|heavy|far)\b/i, NUMBER],
  [/\bhow often\b/i, OFTEN],
  [/\bhow long\b/i, DURATION],
  [/\bhow much (?:does|do|did|is|are|was|were|will|can|may|should)\b|\b(?:cost|price)s?\b/i, AMOUNT],
  [/\b(?:phone|telephone|mobile) number\b/i, /\d{3}/],
  [/\b(?:what|which)(?:['’]?s| is)?(?: \w+)? colou?rs?\b|\bcolou?r of\b/i, COLOUR],
  [/\b(?:what|which)(?:['’]?s| is)?(?: \w+){0,2} sizes?\b|\bsize of\b/i, SIZE],
  [/\b(?:what|which)(?:['’]?s| is)?(?: \w+){0,3} (?:number|pin|port|version)\b/i, /\d/],
  [/\b(?:what|which) time\b/i, CLOCK],
  // The time of the entry itself tells when something happened, if it is what the entry is about.
  [/\bwhen (?:did|was|were|have|has)\b/i, (text, question) => WHEN.test(text) || isWholly(question)],
  [/\bwhen\b|\b(?:what|which) (?:day|date|month|year|week)s?\b/i, WHEN],
  [/\bwho(?:m|se)?\b/i, namesSomebody],
  [
    /\b(?:what|which|who|whats)\b.*\b(?:called|named)\b|\bnames? of\b|\bwhat(?:['’]?s| is| are) (?:\w+ ){1,3}names?\b/i,
    saysName,
  ],
];

function isWholly({ asked, isAbout }: Question): boolean {
  const words = [...asked];
  const commonness = commonnessOf(words);
  return words.every(
    (word, place) => commonness[place] === FUNCTION_WORD || isAbout(word) || ASKS_MEANING.test(word),
  );
}

/** Somebody whom the question does not name. */
function namesSomebody(text: string, question: Question): boolean {
  return (
    hasName(text, question) ||
    ownWords(text, question).some(({ text: word }) => ROLES.has(termOf(word)) || PERSON.test(word))
  );
}

/** "called" and "the name of it is" give a name without a capital, too: servers and branches have such. */
const NAMING =
  /\b(?:called(?! (?:off|for|on|in|out|up|back)\b)|named)\b|\bnames?\b.*(?:\b(?:is|are)\b|[:=])/i;

function saysName(text: string, question: Question): boolean {
  if (hasName(text, question)) return true;
  if (!NAMING.test(text)) return false;
  const own = ownWords(text, question).map((word) => word.text);
  return commonnessOf(own).some((commonness) => commonness !== FUNCTION_WORD);
}

/** A name that the question does not have. */
function hasName(text: string, question: Question): boolean {
  const own = ownWords(text, question);
  const dates = dateTermsOfQuery(own);
  return own.some(
    ({ raw }, place) =>
      CAPITAL.test(raw) && !STARTS.test(raw) && !WEEKDAY.test(raw) && dates[place] === undefined,
  );
}

function ownWords(text: string, { asked }: Question): readonly Word[] {
  return wordsOf(text).filter((word) => !asked.has(termOf(word.text)));
}
