/**
 * Vectors for the Ollama stand-in, from a hand-written table of concepts instead of a model. Texts on the same subject in other
 * words are similar (cosine 0.5 to 0.9), unrelated texts are near 0. The same text always has the same vector.
 */
import { createHash } from "node:crypto";

/** Beginnings of words; a word belongs to every concept that lists its beginning. */
const CONCEPTS: Readonly<Record<string, readonly string[]>> = {
  deployment: ["deploy", "ship", "releas", "rollout", "production", "konflux", "argo", "go-live", "live"],
  review: ["review", "pull-request", "merge", "approv", "sign-off"],
  testing: ["test", "vitest", "jest", "pytest", "coverage", "regression"],
  editor: ["editor", "vim", "neovim", "emacs", "vscode", "ide"],
  database: ["database", "postgres", "sqlite", "mysql", "schema", "table", "query"],
  cloud: ["cloud", "aws", "gcp", "azure", "region", "datacent", "host"],
  container: ["container", "docker", "podman", "kubernetes", "cluster", "image"],
  secret: ["secret", "password", "credential", "vault", "token"],
  language: ["python", "typescript", "golang", "rust", "javascript", "programming"],
  indentation: ["indent", "tabs", "spaces", "formatting", "style"],
  meeting: ["meeting", "standup", "call", "appointment", "sync", "schedul"],
  weekday: ["monday", "tuesday", "wednesday", "thursday", "friday", "weekend"],
  drink: ["coffee", "espresso", "tea", "beverage", "drink", "cappuccino"],
  food: ["food", "eat", "meal", "dinner", "lunch", "breakfast", "cook", "vegetarian", "dish"],
  allergy: ["allerg", "peanut", "intoleran", "gluten", "lactose"],
  pet: ["dog", "cat", "pet", "puppy", "kitten", "animal", "canine", "feline"],
  family: [
    "sister",
    "brother",
    "mother",
    "father",
    "daughter",
    "son",
    "family",
    "sibling",
    "parent",
    "child",
  ],
  home: ["home", "house", "apartment", "flat", "live", "address", "street"],
  travel: ["travel", "trip", "flight", "holiday", "vacation", "journey", "train"],
  city: ["lisbon", "berlin", "paris", "tokyo", "city", "town"],
  health: ["doctor", "dentist", "health", "medic", "clinic"],
  sport: ["running", "marathon", "climb", "swim", "gym", "sport", "exercise", "workout"],
  music: ["music", "guitar", "piano", "song", "band", "instrument"],
  money: ["money", "salary", "budget", "cost", "price", "invoice", "pay"],
  birthday: ["birthday", "born", "anniversary", "celebrat"],
  job: ["job", "work", "employ", "career", "profession", "engineer"],
  colour: ["colour", "color", "blue", "green", "red", "purple", "theme", "dark"],
  outage: ["outage", "incident", "downtime", "crash", "broken", "fail"],
};

const COMMON = new Set(
  "a an the i we you he she it they my our your me us is are was were be do does did how what when where which who why to of in on at for with and or not always never from by that this as have has search_query search_document".split(
    " ",
  ),
);
const CONCEPT_WEIGHT = 1;
const WORD_WEIGHT = 0.35;

/** A vector of length 1. */
export function vectorOf(text: string, dimensions: number): readonly number[] {
  const sum = new Float64Array(dimensions);
  const words = (text.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? []).filter((word) => !COMMON.has(word));
  for (const name of conceptsOf(words)) add(sum, `concept ${name}`, CONCEPT_WEIGHT);
  for (const word of new Set(words)) add(sum, `word ${word}`, WORD_WEIGHT);
  if (words.length === 0) add(sum, "nothing", 1);
  const length = Math.hypot(...sum);
  return Array.from(sum, (value) => value / length);
}

/** About as many tokens as a word-piece tokenizer makes: one per four letters, and one for each other character. */
export function tokensOf(text: string): readonly { readonly end: number }[] {
  return Array.from(text.matchAll(/[\p{L}\p{N}]{1,4}|\S/gu), (match) => ({
    end: match.index + match[0].length,
  }));
}

function conceptsOf(words: readonly string[]): readonly string[] {
  return Object.entries(CONCEPTS)
    .filter(([, stems]) => words.some((word) => stems.some((stem) => word.startsWith(stem))))
    .map(([name]) => name);
}

/** Random directions in many dimensions are nearly orthogonal. */
function add(sum: Float64Array, seed: string, weight: number): void {
  let state = createHash("sha256").update(seed).digest().readUInt32LE(0);
  const scale = weight / Math.sqrt(sum.length / 3);
  for (let at = 0; at < sum.length; at++) {
    // The algorithm is mulberry32.
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    const uniform = ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    sum[at] = (sum[at] ?? 0) + (uniform * 2 - 1) * scale;
  }
}
