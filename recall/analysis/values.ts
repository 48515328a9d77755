/**
 * The values in a text: what two texts about the same thing can say differently. Amounts, times of day, dates, weekdays and years,
 * each in one notation: "half past six" is 6:30, two weeks are 14 days, "01.02." is February 1.
 */
import { monthNamed } from "./dates.ts";
import { fold, withNumbersApart } from "./words.ts";

/**
 * In one notation, by kind: `clock`, `date` and its `year of date`, `weekday`, `month`, `year`, `daytime`, `rate`, `ordinal`, the
 * measure of an amount such as `mass` or `euro`, `number` without a unit, and `named`, which is a number and a name, as in "room 12".
 */
export type Values = ReadonlyMap<string, ReadonlySet<string>>;

export interface ReadValues {
  readonly values: Values;
  /** The text without them. Something stands in their places, so that no two words become neighbours. */
  readonly rest: string;
}

interface Found {
  readonly kind: string;
  readonly value: string;
}

/** What a match says; undefined if it is no value after all, and stays. */
type Reader = (match: readonly string[]) => readonly Found[] | undefined;

export function readValues(text: string): ReadValues {
  const values = new Map<string, Set<string>>();
  let rest = withDigits(withNumbersApart(text));
  for (const [pattern, read] of PATTERNS) {
    rest = rest.replace(pattern, (...match: (string | undefined)[]) => {
      const [whole = ""] = match;
      const found = read(match.map((group) => group ?? ""));
      for (const { kind, value } of found ?? [])
        values.set(kind, (values.get(kind) ?? new Set<string>()).add(value));
      return found === undefined ? whole : GAP;
    });
  }
  return { values, rest };
}

const GAP = " · ";

const COUNTS = new Map(
  "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
    .split(" ")
    .map((word, place) => [word, place + 2] as const),
);
for (const [place, word] of "twenty thirty forty fifty sixty seventy eighty ninety".split(" ").entries())
  COUNTS.set(word, (place + 2) * 10);
COUNTS.set("one", 1).set("dozen", 12).set("hundred", 100).set("thousand", 1_000);

const PLACES = new Map(
  "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
    .split(" ")
    .map((word, place) => [word, place + 1] as const),
);
const FRACTIONS = new Map([
  ["half", 50],
  ["third", 33],
  ["quarter", 25],
  ["fifth", 20],
  ["tenth", 10],
]);

const COUNT = [...COUNTS.keys()].join("|");
const HOUR = `(\\d{1,2}|${COUNT})`;
const TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety";
const NAMED_HOUR = new RegExp(`\\b(half past|quarter past|quarter to) ${HOUR}\\b`, "gi");
const HOUR_OF = new RegExp(`\\b${HOUR} (?:o['’]?clock|in the (morning|afternoon|evening))\\b`, "gi");
const FRACTION = /\b(?:an? )?(half|third|quarter|fifth|tenth) of\b/gi;
const PLACE = new RegExp(`\\b(the|on|every) (${[...PLACES.keys()].join("|")})\\b`, "gi");
const COUNTED = new RegExp(`\\b(?:(${TENS})[- ])?(${COUNT})\\b`, "gi");
const OFTEN = /\b(once|twice)\b(?= (?:an?|per|every|each|daily|weekly)\b)/gi;
/** Not "one of them" or "no one". */
const ONE = /\bone (?=(?:second|minute|hour|day|week|month|year|euro|dollar|pound|percent)s?\b)/gi;

/** The text with digits for numbers in words. */
function withDigits(text: string): string {
  return text
    .replace(NAMED_HOUR, (_, part: string, hour: string) => clockText(part.toLowerCase(), countOf(hour)))
    .replace(HOUR_OF, (whole, hour: string, part?: string) => hourText(whole, countOf(hour), part))
    .replace(FRACTION, (_, part: string) => `${FRACTIONS.get(part.toLowerCase()) ?? ""}% of`)
    .replace(
      PLACE,
      (_, before: string, place: string) => `${before} ${PLACES.get(place.toLowerCase()) ?? ""}th`,
    )
    .replace(OFTEN, (_, times: string) => (/once/i.test(times) ? "1" : "2"))
    .replace(ONE, "1 ")
    .replace(COUNTED, (whole, tens: string | undefined, word: string) =>
      word.toLowerCase() === "one" && tens === undefined ? whole : `${countOf(tens) + countOf(word)}`,
    );
}

function countOf(word: string | undefined): number {
  if (word === undefined) return 0;
  return COUNTS.get(word.toLowerCase()) ?? (Number.parseInt(word, 10) || 0);
}

function clockText(part: string, hour: number): string {
  if (part === "quarter to") return `${hour - 1}:45`;
  return `${hour}:${part === "half past" ? "30" : "15"}`;
}

function hourText(whole: string, hour: number, part: string | undefined): string {
  if (hour > 24) return whole;
  const isLate = part !== undefined && part.toLowerCase() !== "morning" && hour < 12;
  return `${isLate ? hour + 12 : hour}:00`;
}

/** Seconds, grams, metres, megabytes: each unit by its measure, and how much of that it is. */
const UNITS = new Map<string, readonly [measure: string, factor: number]>();
const MEASURES: Readonly<Record<string, string>> = {
  time: "ms 0.001 millisecond; s 1 sec second; min 60 minute; h 3600 hr hour; d 86400 day night; week 604800; month 2629800; year 31557600 yr",
  euro: "€ 1 eur euro",
  dollar: "$ 1 usd dollar buck",
  pound: "£ 1 gbp",
  mass: "mg 0.001 milligram; g 1 gram gramme; kg 1000 kilo kilogram; t 1000000 ton tonne; lb 453.6 lbs",
  length:
    "mm 0.001; cm 0.01 centimetre centimeter; m 1 metre meter; km 1000 kilometre kilometer; mile 1609; inch 0.0254; ft 0.3048 foot feet",
  data: "kb 0.001; mb 1 megabyte; gb 1000 gigabyte gib; tb 1000000 terabyte",
  volume: "ml 0.001 millilitre; cl 0.01; l 1 litre liter",
  share: "% 1 percent",
  pressure: "bar 1; psi 0.069",
  power: "w 1 watt; kw 1000",
  warmth: "° 1 °c degree celsius",
};
for (const [measure, units] of Object.entries(MEASURES)) {
  for (const unit of units.split("; ")) {
    const [name = "", factor = "1", ...others] = unit.split(" ");
    for (const word of [name, ...others]) UNITS.set(word, [measure, Number(factor)]);
  }
}

const WEEKDAYS = new Map(
  [
    "monday mon montag lunes lundi",
    "tuesday tue tues dienstag martes mardi",
    "wednesday wed mittwoch miércoles mercredi",
    "thursday thu thur thurs donnerstag jueves jeudi",
    "friday fri freitag viernes vendredi",
    "saturday sat samstag sonnabend sábado samedi",
    "sunday sun sonntag domingo dimanche",
  ].flatMap((names, place) => names.split(" ").map((name) => [fold(name), `${place + 1}`] as const)),
);
const WEEKDAY = [...WEEKDAYS.keys(), "miércoles", "sábado"].sort((a, b) => b.length - a.length).join("|");

const RATES: Readonly<Record<string, string>> = {
  ...{ hourly: "hour", daily: "day", nightly: "night", weekly: "week", fortnightly: "2 week" },
  ...{ monthly: "month", quarterly: "3 month", yearly: "year", annually: "year" },
};

const DATE_NUMBER = "(\\d{1,2})(?:st|nd|rd|th)?";
const MONTH = "(\\p{L}{3,10})";
const NUMBER = "(\\d{1,3}(?:[,’' ]\\d{3})+(?!\\d)|\\d+(?:[.,]\\d+)*)(k|K|M)?";
const AHEAD = "(?<![\\p{L}\\p{N}._#-])";

const PATTERNS: readonly (readonly [RegExp, Reader])[] = [
  [
    /(?:\bhttps?:\/\/)?(?<![\p{L}\p{N}._@-])(\p{L}[\p{L}\p{N}-]*(?:\.[\p{L}\p{N}-]+)*\.\p{Ll}{2,}(?:\/\S*)?|\d{1,3}(?:\.\d{1,3}){3})(?![\p{L}\p{N}])/gu,
    ([, address = ""]) => [{ kind: "address", value: fold(address) }],
  ],
  [
    /\bevery (\d+|other) (hour|day|night|week|month|year)s?\b/gi,
    ([, count = "", rate = ""]) => [
      { kind: "rate", value: `${count === "other" ? 2 : count} ${fold(rate)}` },
    ],
  ],
  [/\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b/g, ([, year = "", month = "", day = ""]) => dateOf(day, month, year)],
  [
    new RegExp(`${AHEAD}(\\d{1,2})\\.(\\d{1,2})\\.((?:19|20)?\\d\\d)?(?![\\d.])`, "gu"),
    ([, day = "", month = "", year = ""]) => dateOf(day, month, year),
  ],
  [
    new RegExp(`${AHEAD}${DATE_NUMBER}\\.?(?: of)? ${MONTH}\\b\\.?(?:,? ((?:19|20)\\d\\d))?`, "gu"),
    ([, day = "", name = "", year = ""]) => datedBy(day, name, year),
  ],
  [
    new RegExp(`(?<!\\p{L})${MONTH}\\.? (?:the )?${DATE_NUMBER}(?![\\d:])(?:,? ((?:19|20)\\d\\d))?`, "gu"),
    ([, name = "", day = "", year = ""]) => datedBy(day, name, year),
  ],
  [
    /(?<!\p{L})(\p{Lu}\p{L}{2,9})(?!\p{L})/gu,
    ([, name = ""]) => {
      const month = monthNamed(fold(name));
      return month === undefined ? undefined : [{ kind: "month", value: month }];
    },
  ],
  [
    new RegExp(`${AHEAD}(\\d{1,2})(?:[:h](\\d\\d))?(?::\\d\\d)? ?([ap])\\.?m\\b\\.?`, "giu"),
    ([, hour = "", minute = "", half = ""]) =>
      clockOf((Number(hour) % 12) + (/p/i.test(half) ? 12 : 0), minute),
  ],
  [
    new RegExp(`${AHEAD}(\\d{1,2})[:h](\\d\\d)(?!\\d)(?: in the (morning|afternoon|evening))?`, "gu"),
    ([, hour = "", minute = "", half = ""]) =>
      clockOf(Number(hour) + (half !== "" && half !== "morning" && Number(hour) < 12 ? 12 : 0), minute),
  ],
  [
    /\b(?:at|um|a las|à) (\d{1,2})(?: ?(?:Uhr|h|heures))?(?=[.,;!)]|$| (?!\p{L}+s\b)\p{Ll})/gu,
    ([, hour = ""]) => clockOf(Number(hour), ""),
  ],
  [/\b(noon|midday|midnight)\b/gi, ([, name = ""]) => clockOf(/night/i.test(name) ? 0 : 12, "")],
  [
    new RegExp(`\\b(${WEEKDAY})s?\\b`, "gi"),
    ([, name = ""]) =>
      /^\p{Lu}|\p{L}{6}|l(?:unes|undi)|mardi|jeudi/u.test(name)
        ? [{ kind: "weekday", value: WEEKDAYS.get(fold(name)) ?? "" }]
        : undefined,
  ],
  [
    /\b(morning|evening|afternoon|night|weekend|weekday|summer|winter|spring|autumn|morgens|vormittags|mittags|nachmittags|abends|nachts|mañana|tarde|noche|matin|soir)s?\b/gi,
    ([, name = ""]) => [{ kind: "daytime", value: fold(name) }],
  ],
  [
    new RegExp(`${AHEAD}([€$£]) ?${NUMBER}`, "gu"),
    ([, sign = "", digits = "", thousands = ""]) => amountOf(digits, thousands, sign),
  ],
  [
    new RegExp(`${AHEAD}${NUMBER}[- ]?([€$£%°]|\\p{L}+)(?!\\p{L})`, "gu"),
    ([, digits = "", thousands = "", unit = ""]) => amountOf(digits, thousands, unit),
  ],
  [/(?<![\p{L}\p{N}._#-])(\d+)(?:st|nd|rd|th)\b/gu, ([, place = ""]) => [{ kind: "ordinal", value: place }]],
  [
    /(?<![\p{L}\p{N}.,_#-])((?:19|20)\d\d)(?![\p{N}.,]\d|\p{N}|\p{L})/gu,
    ([, year = ""]) => [{ kind: "year", value: year }],
  ],
  [
    /(?<=(?<!\p{L})(?!(?:is|are|at|by|to|of|on|in|has|have|pay|pays|about|only|than|for|costs?|needs?|takes?|and|or|with|from|until|after|before)\b)\p{L}+ )(\d+(?:\.\d+)*)(?=:? [\p{L}·])/giu,
    ([, number = ""]) => [
      { kind: "named", value: number },
      { kind: "number", value: numberOf(number, "") },
    ],
  ],
  [
    new RegExp(`${AHEAD}${NUMBER}(?!\\p{L})`, "gu"),
    ([, digits = "", thousands = ""]) => [{ kind: "number", value: numberOf(digits, thousands) }],
  ],
  [
    /\b(daily|weekly|monthly|yearly)\b/gi,
    ([, rate = ""]) => [{ kind: "rate", value: RATES[fold(rate)] ?? "" }],
  ],
  [
    /\b(?:an?|per|each|every) (second|minute|hour|day|week|month|year)\b/gi,
    ([, rate = ""]) => [{ kind: "rate", value: fold(rate) }],
  ],
];

function datedBy(day: string, name: string, year: string): readonly Found[] | undefined {
  const month = monthNamed(fold(name));
  return month === undefined ? undefined : dateOf(day, month, year);
}

function dateOf(day: string, month: string, year: string): readonly Found[] | undefined {
  if (Number(day) < 1 || Number(day) > 31 || Number(month) < 1 || Number(month) > 12) return undefined;
  const date = { kind: "date", value: `${Number(month)}-${Number(day)}` };
  return year === "" ? [date] : [date, { kind: "year of date", value: year.slice(-2) }];
}

function clockOf(hour: number, minute: string): readonly Found[] | undefined {
  return hour > 24 || Number(minute) > 59
    ? undefined
    : [{ kind: "clock", value: `${hour}:${minute || "00"}` }];
}

function amountOf(digits: string, thousands: string, unit: string): readonly Found[] | undefined {
  const word = fold(unit);
  const known = UNITS.get(word) ?? UNITS.get(word.replace(/s$/, ""));
  if (known === undefined) return undefined;
  const [measure, factor] = known;
  const value = Number(numberOf(digits, thousands)) * factor;
  return [{ kind: measure, value: `${Number(value.toPrecision(6))}` }];
}

const THOUSANDS = /^\d{1,3}(?:[,’' ]\d{3})+$/;

/** "15,000", "15k" and "15000" are one number, "1.6" and "1,6" another. */
function numberOf(digits: string, thousands: string): string {
  const plain = THOUSANDS.test(digits) ? digits.replace(/\D/g, "") : digits.replace(",", ".");
  const factor = { k: 1_000, K: 1_000, M: 1_000_000 }[thousands] ?? 1;
  const value = Number(plain) * factor;
  return Number.isNaN(value) ? plain : `${value}`;
}
