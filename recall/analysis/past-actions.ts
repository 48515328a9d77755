/** Recognises a person's or a model's questions about past actions: "what did you do yesterday?", "which tool did you run?". */
import type { UnixMs } from "../../engine/store/memory-store.ts";
import { dateTermsOf, dateTermsOfQuery } from "./dates.ts";
import { fold, type Word, wordsOf } from "./words.ts";

const MINUTE_MS = 60_000;

export interface PastActions {
  /** Asks for all actions rather than whether or when one happened. */
  readonly isOpen: boolean;
  /** The rest of the question: what the action was about. */
  readonly about: string;
  /** Whether the question's time covers this one; absent when the question names no time. */
  readonly covers?: (at: UnixMs) => boolean;
}

/** Patterns of one language, matched against folded words joined by spaces. */
interface Wording {
  /** For the names of weekdays. */
  readonly language: string;
  readonly open: RegExp;
  /** Open only with a time: models ask like this about their own actions; a person without a time means their own. */
  readonly openThen?: RegExp;
  readonly closed: RegExp;
  /** Of a day before yesterday, yesterday, today, this week and last week; the first match wins. */
  readonly times: readonly [RegExp, RegExp, RegExp, RegExp, RegExp];
}

const WORDINGS: readonly Wording[] = [
  {
    language: "en",
    open: /\bwhat (?:all |else )?(?:did|have|had|were) you (?:\w+ ){0,2}?(?:do|done|doing|run|up to|work on|working on|worked on)\b|\bwhat (?:was|has been|have been) (?:\w+ )?done\b|\b(?:what|which) tools? (?:did|have|were|was) (?:you |we |i )?(?:use|used|run|ran|call|called)?|\btools? (?:calls?|runs?|history|used)\b/,
    openThen:
      /\bwhat (?:did|have|was|were) (?:i|we|the agent) (?:\w+ ){0,2}?(?:do|done|doing|up to|work on|working on)\b|^(?:my |your |the )?(?:activit(?:y|ies)|actions?|work done)\b/,
    closed: /^(?:did|have) you (?:already |ever |just )?(?:run |use |used |call |called |do |done )?/,
    times: [
      /\bday before yesterday\b/,
      /\byesterday\b|\blast night\b/,
      /\btoday\b|\bthis (?:morning|afternoon|evening)\b|\btonight\b/,
      /\bthis week\b/,
      /\blast week\b/,
    ],
  },
  {
    language: "de",
    open: /\bwas (?:hast|habt) (?:du|ihr) (?:\w+ ){0,3}?(?:gemacht|getan|erledigt|gearbeitet)\b|\bwas wurde (?:\w+ ){0,2}?(?:gemacht|getan|erledigt)\b|\bwelche[sn]? (?:tools?|werkzeuge?) (?:hast|habt|haben|wurden?) (?:du |ihr |wir )?/,
    openThen:
      /\bwas (?:habe|haben|hat) (?:ich|wir|der agent) (?:\w+ ){0,3}?(?:gemacht|getan|erledigt|gearbeitet)\b/,
    closed: /^(?:hast|habt) (?:du|ihr) (?:schon |bereits )?/,
    times: [/\bvorgestern\b/, /\bgestern\b/, /\bheute\b/, /\bdiese woche\b/, /\b(?:letzte|vorige) woche\b/],
  },
  {
    language: "fr",
    open: /^(?:as tu|avez vous) fait\b|\bce que (?:tu as|vous avez) fait\b|\bquels? outils? (?:as tu|avez vous)\b/, // "qu'" is not a word
    closed: /^(?:as tu|avez vous) (?:deja )?/,
    times: [/\bavant hier\b/, /\bhier\b/, /\baujourd hui\b/, /\bcette semaine\b/, /\bla semaine derniere\b/],
  },
  {
    language: "es",
    open: /\bque (?:has hecho|hiciste|habeis hecho)\b|\bque herramientas? (?:has|usaste|utilizaste)\b/,
    closed: /^(?:ya )?has /,
    times: [
      /\b(?:anteayer|antes de ayer)\b/,
      /\bayer\b/,
      /\bhoy\b/,
      /\besta semana\b/,
      /\bla semana pasada\b/,
    ],
  },
];

/** Undefined for any other question. Days are in this machine's time zone. */
export function parsePastActions(question: string, now: UnixMs): PastActions | undefined {
  const words = wordsOf(question);
  const text = words.map((word) => word.text).join(" ");
  for (const wording of WORDINGS) {
    const open = wording.open.exec(text);
    const closed = open === null ? wording.closed.exec(text) : null;
    const said = open ?? closed ?? wording.openThen?.exec(text);
    if (said === null || said === undefined) continue;
    const time = timeIn(text, wording, now) ?? dateIn(words);
    if (said !== open && said !== closed && time === undefined) return undefined;
    const about = [said[0], time?.words ?? ""].reduce((rest, part) => rest.replace(part, " "), text);
    return { isOpen: said !== closed, about, ...(time && { covers: time.covers }) };
  }
  return undefined;
}

/** Day offsets from today: the first day, and the day after the last. */
type Span = readonly [pattern: RegExp, from: number, to: number];

interface NamedTime {
  readonly words: string;
  readonly covers: (at: UnixMs) => boolean;
}

function timeIn(text: string, wording: Wording, now: UnixMs): NamedTime | undefined {
  const today = new Date(now);
  const untilMonday = -((today.getDay() + 6) % 7);
  const firsts = [-2, -1, 0, untilMonday, untilMonday - 7];
  const ends = [-1, 0, 1, 1, untilMonday];
  const spans: readonly Span[] = [
    ...wording.times.map((pattern, at): Span => [pattern, firsts[at] ?? 0, ends[at] ?? 0]),
    ...weekdays(wording.language, today),
  ];
  for (const [pattern, from, to] of spans) {
    const words = pattern.exec(text)?.[0];
    if (words === undefined) continue;
    const [first, end] = [startOfDay(today, from), startOfDay(today, to)];
    return { words, covers: (at) => at >= first && at < end };
  }
  return undefined;
}

/** The last such weekday before today. Built only for questions about actions. */
function weekdays(language: string, today: Date): readonly Span[] {
  const name = new Intl.DateTimeFormat(language, { weekday: "long" });
  return [-1, -2, -3, -4, -5, -6, -7].map((back) => {
    const day = fold(name.format(startOfDay(today, back)));
    return [new RegExp(`\\b(?:on |am )?${day}\\b`), back, back + 1];
  });
}

function startOfDay(today: Date, offset: number): UnixMs {
  return new Date(today.getFullYear(), today.getMonth(), today.getDate() + offset).getTime();
}

/** "2026-11-21" or "in November 2026". */
function dateIn(words: readonly Word[]): NamedTime | undefined {
  const terms = dateTermsOfQuery(words).filter((term) => term !== undefined);
  if (terms.length === 0) return undefined;
  // Elsewhere in search, the terms of a time are those of its UTC day.
  const local = (at: UnixMs) => dateTermsOf(at - new Date(at).getTimezoneOffset() * MINUTE_MS);
  return { words: "", covers: (at) => terms.every((term) => local(at).includes(term)) };
}
