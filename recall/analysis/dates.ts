/** Date terms: for the creation time of an entry, and for the days, months and years that a query names. */
import type { UnixMs } from "../../engine/store/memory-store.ts";
import type { Word } from "./words.ts";

/** January to December in English, German, French, Spanish, Italian, Portuguese and Dutch, folded; short forms too. */
const MONTHS = `
january jan januar janvier enero gennaio janeiro januari; february feb februar fevrier febrero febbraio fevereiro februari;
march mar marz mars marzo marco maart; april apr avril abril aprile; may mai mayo maggio maio mei;
june jun juni juin junio giugno junho; july jul juli juillet julio luglio julho; august aug aout agosto augustus;
september sep sept septembre septiembre settembre setembro; october oct oktober okt octobre octubre ottobre outubro;
november nov novembre noviembre novembro; december dec dezember dez decembre diciembre dicembre dezembro`;
const MONTH_BY_NAME: ReadonlyMap<string, string> = new Map(
  MONTHS.split(";").flatMap(
    (names, month) =>
      names.match(/\w+/g)?.map((name) => [name, String(month + 1).padStart(2, "0")] as const) ?? [],
  ),
);
const YEAR = /^(?:19|20)\d\d$/;
/** After one of these words a four-digit number is a year; elsewhere it may be a port or an amount. */
const BEFORE_YEAR = new Set("in of year during since from im jahr en annee ano del".split(" "));
const MONTH_NUMBER = /^(?:0[1-9]|1[0-2])$/;
const DAY = /^(0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?$/;
const DAY_MS = 86_400_000;
let lastDay = Number.NaN;
let lastTerms: readonly string[] = [];

/** The terms of a time (UTC): its year, its month with and without the year, its day. No text produces such terms. */
export function dateTermsOf(at: UnixMs): readonly string[] {
  const day = Math.floor(at / DAY_MS);
  if (day !== lastDay) lastTerms = termsOfDay(day); // entries of one day mostly arrive together
  lastDay = day;
  return lastTerms;
}

function termsOfDay(day: number): readonly string[] {
  const time = new Date(day * DAY_MS);
  if (Number.isNaN(time.getTime())) return [];
  const [date = ""] = time.toISOString().split("T");
  const [year = "", month = ""] = date.split("-");
  return [`@${year}`, `@${year}-${month}`, `@-${month}`, `@${date}`];
}

/** The date terms that each word of a query stands for (for "July" in "July 2026": the month of that year); most have none. */
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
      const day = DAY.exec(words[near]?.text ?? "")?.[1]?.padStart(2, "0");
      if (day !== undefined) terms[near] = `@${year}-${month}-${day}`;
    }
  });
  return terms;
}

/** Two digits. A month's name counts only with a capital or beside a number, since some are everyday words. */
function monthOf(words: readonly Word[], at: number): string | undefined {
  const word = words[at];
  if (word === undefined) return undefined;
  const inDate = YEAR.test(words[at - 1]?.text ?? "") && words[at - 1]?.run === word.run;
  if (inDate && MONTH_NUMBER.test(word.text)) return word.text;
  const month = MONTH_BY_NAME.get(word.text);
  const besideNumber = [words[at - 1], words[at + 1]].some((near) => /^\d/.test(near?.text ?? ""));
  return month !== undefined && (besideNumber || /^\p{Lu}/u.test(word.raw)) ? month : undefined;
}

/** Two digits, for a folded name or its short form. */
export function monthNamed(name: string): string | undefined {
  return MONTH_BY_NAME.get(name);
}
