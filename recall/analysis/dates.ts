/** Dates: terms for when an entry was made, and the words of a query that name a day, a month or a year. */
import type { UnixMs } from "../../engine/index.ts";
import { fold } from "./fold.ts";
import type { Word } from "./words.ts";

/** Languages whose month names are understood. */
const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl"];
const YEAR = /^(?:19|20)\d\d$/;
/** A bare number of four digits is a year after one of these, else it may be a port or an amount. */
const BEFORE_YEAR = new Set([
  "in",
  "of",
  "year",
  "during",
  "since",
  "from",
  "im",
  "jahr",
  "en",
  "annee",
  "ano",
  "del",
]);
const MONTH_NUMBER = /^(?:0[1-9]|1[0-2])$/;
const DAY = /^(0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?$/;

let monthNames: ReadonlyMap<string, string> | undefined;

/** Terms of a point in time (UTC): its year, its month with and without the year, its day. No text yields such terms. */
export function dateTermsOf(at: UnixMs): readonly string[] {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return [];
  const [date = ""] = time.toISOString().split("T");
  const [year = "", month = ""] = date.split("-");
  return [`@${year}`, `@${year}-${month}`, `@-${month}`, `@${date}`];
}

/** For each word of a query: the date terms it stands for ("July" in "July 2026": the month of that year), mostly none. */
export function dateTermsOfQuery(words: readonly Word[]): readonly (string | undefined)[] {
  const terms: (string | undefined)[] = words.map(() => undefined);
  words.forEach((word, at) => {
    if (YEAR.test(word.text) && BEFORE_YEAR.has(words[at - 1]?.text ?? "")) terms[at] = `@${word.text}`;
  });
  words.forEach((_, at) => {
    const month = monthOf(words, at);
    if (month === undefined) return;
    const yearAt = words.findIndex(({ text }, place) => Math.abs(place - at) <= 3 && YEAR.test(text));
    const year = words[yearAt]?.text ?? "";
    terms[at] = `@${year}-${month}`;
    if (year === "") return;
    terms[yearAt] = `@${year}`;
    for (const near of [at - 1, at + 1]) {
      const day = dayOf(words[near]);
      if (day !== undefined) terms[near] = `@${year}-${month}-${day}`;
    }
  });
  return terms;
}

/** Two digits; a month's name counts with a capital or beside a number, since some are everyday words. */
function monthOf(words: readonly Word[], at: number): string | undefined {
  const word = words[at];
  if (word === undefined) return undefined;
  const inDate = YEAR.test(words[at - 1]?.text ?? "") && words[at - 1]?.run === word.run;
  if (inDate && MONTH_NUMBER.test(word.text)) return word.text;
  const month = months().get(word.text);
  const besideNumber = [words[at - 1], words[at + 1]].some((near) => /^\d/.test(near?.text ?? ""));
  return month !== undefined && (besideNumber || /^\p{Lu}/u.test(word.raw)) ? month : undefined;
}

function dayOf(word: Word | undefined): string | undefined {
  return word === undefined ? undefined : DAY.exec(word.text)?.[1]?.padStart(2, "0");
}

/** Folded long and short names, from the platform's own language data. */
function months(): ReadonlyMap<string, string> {
  if (monthNames !== undefined) return monthNames;
  const names = new Map<string, string>();
  for (const style of ["long", "short"] as const) {
    for (const language of LANGUAGES) {
      const format = new Intl.DateTimeFormat(language, { month: style, timeZone: "UTC" });
      for (let month = 0; month < 12; month += 1) {
        const name = fold(format.format(Date.UTC(2000, month, 1))).replaceAll(".", "");
        if (name.length >= 3 && !names.has(name)) names.set(name, String(month + 1).padStart(2, "0"));
      }
    }
  }
  monthNames = names;
  return names;
}
