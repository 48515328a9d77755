/** Generated facts like people's, with common and rare words. The n-th fact is always the same. */

export interface MadeFact {
  readonly key: string;
  readonly value: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly createdAt: number;
}

/** 2026-01-01. Each fact is some minutes younger than the previous one. */
const FIRST_AT = Date.UTC(2026, 0, 1);
const MINUTES_APART = 7;

const SYLLABLES =
  "ka lo mi ren sta bri del fo gar hu in jo kel lum mar nor os pra qui ru sel tor ul ver wex yar zin".split(
    " ",
  );
const PEOPLE =
  "Adira Bence Carme Dag Eszter Fennel Goran Hedda Imre Jorun Kaija Lubna Mirek Nadia Oona Pavle".split(" ");
const THINGS =
  "database queue gateway certificate invoice dashboard cluster bucket pipeline laptop contract calendar printer backup scheduler token".split(
    " ",
  );
const ACTIONS =
  "deployed restarted renewed reviewed migrated archived paused tested measured approved cancelled documented".split(
    " ",
  );
const TIMES =
  "every Monday|before noon|after the standup|on the first day of the quarter|within two weeks|at night|in spring|twice a year".split(
    "|",
  );
const REASONS =
  "because the old one lost messages|since the vendor changed its prices|so that nobody has to wait|after the outage in March|to keep the audit short|because two teams share it".split(
    "|",
  );
const CATEGORIES = "user_facts deploy preferences people infrastructure decisions notes conventions".split(
  " ",
);

/** Numbers from 0 (included) to 1 (excluded) that depend only on the seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function madeFact(number: number): MadeFact {
  const random = seeded(number + 1);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T; // no list here is empty
  const project = madeName(random, 400);
  const other = madeName(random, 4000);
  const person = pick(PEOPLE);
  const thing = pick(THINGS);
  const sentences = [
    `The ${other} ${thing} of ${project} is ${pick(ACTIONS)} ${pick(TIMES)}.`,
    `${person} asks for it ${pick(REASONS)}.`,
    `It listens on port ${1024 + Math.floor(random() * 60_000)} of ${other}-${Math.floor(random() * 90)}.example.`,
    `Ticket ${project.toUpperCase().slice(0, 4)}-${Math.floor(random() * 10_000)} has the details.`,
    `The ${pick(THINGS)} must be ${pick(ACTIONS)} first, and the ${pick(THINGS)} ${pick(TIMES)}.`,
  ];
  return {
    key: `projects/${project}/${thing}-${number}`,
    value: sentences.slice(0, 1 + Math.floor(random() * sentences.length)).join(" "),
    category: pick(CATEGORIES),
    tags: [project, thing],
    createdAt: FIRST_AT + number * MINUTES_APART * 60_000,
  };
}

/** One of many names. The first names are far more frequent than the last, like words in natural text. */
function madeName(random: () => number, names: number): string {
  const rank = Math.floor(names ** random());
  const syllable = (place: number) =>
    SYLLABLES[Math.floor(rank / SYLLABLES.length ** place + place * 7) % SYLLABLES.length];
  return `${syllable(0)}${syllable(1)}${syllable(2)}`;
}

/** A question that people might ask about `entries` such facts: most use a fact's words, some add other words, some match nothing. */
export function madeQuestion(number: number, entries: number): string {
  const random = seeded(number + 900_000_000);
  const fact = madeFact(Math.floor(random() * entries));
  const words = fact.value.replace(/[.,]/g, "").split(" ");
  const start = Math.floor(random() * Math.max(1, words.length - 6));
  const asked = words.slice(start, start + 3 + Math.floor(random() * 4)).join(" ");
  const kind = random();
  if (kind < 0.6) return `When is ${asked}?`;
  if (kind < 0.85) return `${asked} responsible colleague`;
  return `Which harbour master keeps the ${madeName(random, 4000)} lighthouse ledger?`;
}
