/** LoCoMo conversations as facts and questions, from a folder of JSON Lines or from the published `locomo10.json`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A line that `import` accepts. */
export interface FactLine {
  readonly key: string;
  readonly value: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly created_at: string;
  readonly conversation_id?: string;
}

export interface Question {
  readonly question: string;
  /** Keys of the facts that answer the question. Never empty. */
  readonly evidence: readonly string[];
  /** LoCoMo's number: 1 several facts, 2 times, 3 inference, 4 one fact, 5 adversarial (asked about the wrong person). */
  readonly category: number;
}

export interface Conversation {
  readonly name: string;
  readonly facts: readonly FactLine[];
  readonly questions: readonly Question[];
}

/** Reads pairs of `NAME.facts.jsonl` and `NAME.questions.jsonl`. */
export function conversationsOfFolder(folder: string): readonly Conversation[] {
  const names = readdirSync(folder).flatMap((file) => /^(.+)\.facts\.jsonl$/.exec(file)?.[1] ?? []);
  return names.sort().map((name) => ({
    name,
    facts: readJsonLines<FactLine>(join(folder, `${name}.facts.jsonl`)).map(asTurn),
    questions: readJsonLines<Question>(join(folder, `${name}.questions.jsonl`)).filter(hasEvidence),
  }));
}

/** LoCoMo's files say it by the key, whose first part is the session. Memory reads no key for that. */
function asTurn(fact: FactLine): FactLine {
  const slash = fact.key.lastIndexOf("/");
  return slash <= 0 ? fact : { conversation_id: fact.key.slice(0, slash), ...fact };
}

/** Does not check the shape of a line. The files are our own or LoCoMo's, and a wrong line fails at once. */
export function readJsonLines<T>(path: string): readonly T[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as T);
}

/** A set of test/data, by its name without the ending. */
export function readTestData<T>(name: string): readonly T[] {
  return readJsonLines<T>(fileURLToPath(new URL(`../../test/data/${name}.jsonl`, import.meta.url)));
}

function hasEvidence({ evidence }: Question): boolean {
  return evidence.length > 0;
}

interface PublishedTurn {
  readonly speaker: string;
  readonly dia_id: string;
  readonly text: string;
  readonly blip_caption?: string;
}

interface PublishedSample {
  readonly sample_id?: string;
  /** `session_N` holds turns, `session_N_date_time` a text. */
  readonly conversation: Readonly<Record<string, unknown>>;
  readonly qa: readonly {
    readonly question: string;
    readonly evidence?: readonly string[];
    readonly category: number;
  }[];
}

/** Each turn of the published file becomes a fact, 20 seconds after the previous one, with the key `session_N/<dia_id>`. */
export function conversationsOfPublished(path: string): readonly Conversation[] {
  const samples = JSON.parse(readFileSync(path, "utf8")) as readonly PublishedSample[]; // LoCoMo's own shape
  return samples.map((sample, place) => {
    const facts = sessionsOf(sample).flatMap(factsOfSession);
    const keys = new Map(facts.map(({ key }) => [key.slice(key.indexOf("/") + 1), key]));
    const questions = sample.qa.map(({ question, evidence = [], category }) => {
      return { question, category, evidence: evidenceKeys(evidence, keys) };
    });
    return { name: sample.sample_id ?? String(place), facts, questions: questions.filter(hasEvidence) };
  });
}

interface Session {
  readonly name: string;
  readonly at: number;
  readonly turns: readonly PublishedTurn[];
}

function sessionsOf({ conversation }: PublishedSample): readonly Session[] {
  return Object.entries(conversation).flatMap(([name, turns]) => {
    if (!/^session_\d+$/.test(name) || !Array.isArray(turns)) return [];
    return [
      {
        name,
        at: readTime(String(conversation[`${name}_date_time`] ?? "")),
        turns: turns as PublishedTurn[],
      },
    ];
  });
}

function factsOfSession({ name, at, turns }: Session): readonly FactLine[] {
  return turns.map(({ speaker, dia_id: id, text, blip_caption: caption }, place) => ({
    key: `${name}/${id}`,
    value: `${speaker}: ${text}${caption === undefined ? "" : ` [image: ${caption}]`}`,
    category: "conversation",
    tags: [speaker.toLowerCase()],
    created_at: new Date(at + place * 20_000).toISOString(),
    conversation_id: name,
  }));
}

/** Evidence is written "D1:3". Some texts contain several ("D8:6; D9:17") or leading zeros. */
function evidenceKeys(evidence: readonly string[], keys: ReadonlyMap<string, string>): readonly string[] {
  const ids = evidence.flatMap((text) => text.match(/D\d+:\d+/g) ?? []);
  const plain = ids.map((id) => id.replace(/(\D)0+(?=\d)/g, "$1"));
  return [...new Set(plain.flatMap((id) => keys.get(id) ?? []))];
}

/** Reads "1:56 pm on 8 May, 2023" as UTC. A text that cannot be read gives the year 2023. */
function readTime(text: string): number {
  const [, hour, minute, half, day, month, year] =
    /(\d+):(\d+)\s*(am|pm)\s+on\s+(\d+)\s+(\w+),?\s+(\d{4})/i.exec(text) ?? [];
  const date = Date.parse(`${day} ${month} ${year} UTC`);
  if (Number.isNaN(date)) return Date.UTC(2023, 0, 1);
  const hours = (Number(hour) % 12) + (half?.toLowerCase() === "pm" ? 12 : 0);
  return date + (hours * 60 + Number(minute)) * 60_000;
}
