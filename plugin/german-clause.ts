/**
 * Makes a sentence of a German subordinate clause: "(dass) ich mittwochs frei habe" becomes "Ich habe mittwochs frei".
 *
 * Only the finite verb moves, from the end to behind the first part. Where it is not certain which words these are, there is no
 * sentence: a wrong cut could say something else.
 */

const WORD = "[\\p{L}\\d][\\p{L}\\d'’-]*";
const NOUN = `\\p{Lu}[\\p{L}\\d'’-]*`;
const ADJECTIVES = "(?:\\p{Ll}+(?:e|er|es|en) ){0,2}";
const OWNER = "(?:mein|dein|sein|ihr|unser|euer|eur|kein|ein)";
const DETERMINER = `(?:d(?:er|ie|as)|${OWNER}e?|jede[rs]?|alle|beide)`;
const NAMED = `(?:${DETERMINER} ${ADJECTIVES})?${NOUN}`;
/** Belongs to the noun before it if the verb only says what that is. */
const OF = `(?:für|von|des|der|${OWNER}e[rs])(?: (?:d(?:e[mnrs]|ie|as)|${OWNER}e?[mnrs]?))? ${ADJECTIVES}${NOUN}`;
const IS = "(?:ist|sind|heißt|heißen|lautet)";
const PLACE = `(?:an|am|auf|aus|bei|beim|bis|durch|gegen|hinter|in|im|ins|mit|nach|neben|ohne|seit|über|um|unter|vor|zu|zum|zur|zwischen)(?: ${ADJECTIVES}(?:d(?:e[mnr]|ie|as)|${OWNER}e?[mnr]?))? ${ADJECTIVES}(?:${NOUN}|\\p{Ll}+|[\\d.:]+)`;
const TIME =
  "(?:(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|morgen|vormittag|mittag|nachmittag|abend|nacht)s|immer|manchmal|nie|hier|dort)";

const PARTS = new RegExp(
  `^(?:(?<pronoun>ich|du|er|es|wir|man|mir|mich|uns|dir|dich|ihm|ihn)|(?<time>${TIME})|(?<named>${NAMED}(?: und ${NAMED})?)) (?<rest>.+ )?(?<verb>${WORD})$`,
  "u",
);
const NAMED_WITH_OF = new RegExp(`^(?<named>${NAMED} ${OF}) (?<rest>.+ )(?<verb>${IS})$`, "u");

const SPECIAL =
  "bin|hab|war|will|kann|muss|muß|soll|darf|mag|weiß|ist|hat|wird|sind|(?:wurd|würd|möcht|hatt|hätt|könnt|wollt|sollt|musst)e";
/** How the finite verb ends, by the first part. */
const OF_ICH = new RegExp(`^(?:${SPECIAL}|\\p{Ll}{2,}(?<!gern|heut|allein|lang|zuhaus)e)$`, "u");
const OF_ONE = new RegExp(`^(?:${SPECIAL}|\\p{Ll}{2,}(?<!nich|jetz|dor|selbs|sons|of|gu)t)$`, "u");
const OF_MANY = /^(?:sind|\p{Ll}{2,}(?:en|ern|eln))$/u;
const OF_DU = /^\p{Ll}+s?t$/u;

/** Perhaps one with a prefix that leaves it, and goes to the end: only where the verb without it is a known one. */
const PREFIX =
  /^(?<prefix>ab|an|auf|aus|bei|ein|fest|fort|her|hin|los|mit|nach|teil|um|unter|über|durch|voll|vor|weg|weiter|wieder|zurück|zusammen|zu)(?<bare>\p{Ll}{2,})$/u;
const PARTING =
  /^(?:ab|an|auf|aus|ein|fest|fort|her|hin|los|mit|nach|teil|vor|weg|weiter|zurück|zusammen|zu)$/u;
const BARE =
  /^(?:st[eä]h|geh|komm|f[aä](?:hr|ll)|l[aäe][uä]f|ruf|n[ei][hm]m|g[ei]b|zieh|mach|hol|bring|f[aä]ng|hör|s(?:eh|ieh)|leg|schließ|schalt|stell|kauf|biet|l[aä](?:ss|d)|l(?:es|ies)|tr[aä]g|schreib|setz|pass|meld|find|reis|flieg|räum|tausch|lehn|steig|h[aä]lt|schau|zahl)(?:e|st|t|et|en)?$/u;
/** "hätte machen müssen": its first verb is the finite one. */
const TWO_INFINITIVES = /(?:hab|hat|hätt|werd|wird|würd)\p{Ll}* (?:\p{Ll}+ )?\p{Ll}+en \p{Ll}+en$/u;
const TAIL = /, (?:weil|da|damit|obwohl|bevor|nachdem|sobald|falls|wenn|um|ohne) [^,]+$/u;
/** Joins verbs, perhaps, unless it joins nouns or times. */
const JOINING = new RegExp(`(?<!${NOUN}|${TIME}) (?:und|oder|aber|sondern|sowie)(?= )`, "u");

/** Undefined if that is not certain. */
export function mainClause(clause: string): string | undefined {
  const tail = TAIL.exec(clause)?.[0] ?? "";
  const main = clause.slice(0, clause.length - tail.length);
  if (
    /[,;:"“„()]|(?:^| )(?:weder|entweder|sowohl) /u.test(main) ||
    TWO_INFINITIVES.test(main) ||
    JOINING.test(clause)
  )
    return undefined;
  const {
    pronoun,
    time,
    named,
    rest = "",
    verb = "",
  } = (NAMED_WITH_OF.exec(main) ?? PARTS.exec(main))?.groups ?? {};
  const first = pronoun ?? time ?? named;
  if (first === undefined || !agrees(verb, pronoun, first)) return undefined;
  if (named !== undefined && !NAMED_WITH_OF.test(main) && isUnclear(rest.trim())) return undefined;
  const { prefix, bare } = PREFIX.exec(verb)?.groups ?? {};
  if (bare === undefined || verb.startsWith("antwort")) return `${first} ${`${verb} ${rest}`.trim()}${tail}`;
  if (prefix === undefined || !PARTING.test(prefix) || !BARE.test(bare)) return undefined;
  return `${first} ${bare} ${rest}${prefix}${tail}`;
}

function agrees(verb: string, pronoun: string | undefined, first: string): boolean {
  if (pronoun === "ich") return OF_ICH.test(verb);
  if (pronoun === "du") return OF_DU.test(verb);
  if (pronoun === "wir") return OF_MANY.test(verb);
  if (/^(?:er|es|man)$/u.test(first)) return OF_ONE.test(verb);
  return OF_ONE.test(verb) || OF_MANY.test(verb) || OF_ICH.test(verb);
}

/** After a noun, what may belong to that noun. A place or a time that is all, but for verbs, may not. */
function isUnclear(rest: string): boolean {
  if (/^(?:\p{Lu}|d(?:er|es|ie|as|en|em)(?! )|von|vom|für)/u.test(rest)) return true;
  if (new RegExp(`^(?:des|${OWNER}e[rs]) `, "u").test(rest)) return true;
  const place = new RegExp(`^${PLACE}(?<more>.*)$`, "u").exec(rest);
  return place !== null && !/^(?: (?!nicht)\p{Ll}+(?:en|t|sein))*$/u.test(place.groups?.more ?? "");
}
