/** How many facts are found by a question in other words, and how quiet memory is when it holds no answer. */
import { type Measured, mean, table } from "../measured.ts";
import type { FactLine } from "./conversations.ts";
import { type Half, halfOf, readParaphraseSet } from "./paraphrase-set.ts";
import { type Bench, type Hit, SYSTEMS, type SystemId } from "./recall-systems.ts";

/** One question, what it wants, and what it got. */
export interface Answered {
  readonly id: string;
  readonly half: Half;
  /** The key of the fact that answers; undefined when none does. */
  readonly wanted: string | undefined;
  readonly isNearMiss: boolean;
  readonly hits: readonly Hit[];
}

export interface ParaphraseFigures {
  readonly hitAt1: number;
  readonly hitAt3: number;
  /** Mean score of the right fact where it is among the first three. */
  readonly meanScore: number;
  /** Of the unanswerable questions, the share with a sure hit; of near misses, and of the others. */
  readonly falseHits: number;
  readonly falseHitsNear: number;
  readonly falseHitsOther: number;
  /** Possible hits that an unanswerable question is shown, mean. */
  readonly possible: number;
}

const SUBJECT = "paraphrases";
const SHOWN = 10;
const HOURS_APART_MS = 5 * 3_600_000;
const COMPARED: readonly SystemId[] = ["keyword", "vector", "hybridSure", "hybrid", "hybridUncut"];
/** Of unanswerable questions: the most that a threshold on similarity may let through. */
const MOST_FALSE = 0.05;
/** For an unanswerable question: the most possible hits in the mean. */
const MOST_POSSIBLE = 2;
/** The aim for facts that are among the first three. */
const ENOUGH_FOUND = 0.85;
const CUT_NOTE =
  " The last system shows what one threshold on similarity can do, chosen on dev so that at most 5 % of its unanswerable questions pass.";

export async function askParaphrases(bench: Bench): Promise<ReadonlyMap<SystemId, readonly Answered[]>> {
  const { pairs, unanswerable } = readParaphraseSet();
  const systems = await bench.fill(SUBJECT, pairs.map(lineOf));
  const answered = new Map<SystemId, readonly Answered[]>();
  for (const id of COMPARED) {
    const search = systems.get(id);
    if (search === undefined) continue;
    const answers: Answered[] = [];
    for (const line of [...pairs, ...unanswerable]) {
      answers.push({
        ...{ id: line.id, half: halfOf(line) },
        wanted: "key" in line ? line.key : undefined,
        isNearMiss: "near" in line,
        hits: await search(line.question, SHOWN),
      });
    }
    answered.set(id, answers);
  }
  return answered;
}

/** Some hours apart, as facts come up in a working life: minutes apart they would be taken for the lines of one talk. */
export function lineOf(
  { key, fact }: { readonly key: string; readonly fact: string },
  place: number,
): FactLine {
  const createdAt = new Date(Date.UTC(2026, 0, 5) + place * HOURS_APART_MS).toISOString();
  return { key, value: fact, category: "user_facts", tags: [], created_at: createdAt };
}

export function paraphraseFigures(answered: readonly Answered[]): ParaphraseFigures {
  const answerable = answered.filter(({ wanted }) => wanted !== undefined);
  const unanswerable = answered.filter(({ wanted }) => wanted === undefined);
  const within = (depth: number) => mean(answerable.map((one) => (placeOf(one) < depth ? 1 : 0)));
  const found = answerable.filter((one) => placeOf(one) < 3);
  const alarms = (of: readonly Answered[]) =>
    mean(of.map(({ hits }) => (hits.some(({ possible }) => !possible) ? 1 : 0)));
  return {
    hitAt1: within(1),
    hitAt3: within(3),
    meanScore: mean(found.map((one) => one.hits[placeOf(one)]?.score ?? 0)),
    falseHits: alarms(unanswerable),
    falseHitsNear: alarms(unanswerable.filter(({ isNearMiss }) => isNearMiss)),
    falseHitsOther: alarms(unanswerable.filter(({ isNearMiss }) => !isNearMiss)),
    possible: mean(unanswerable.map(({ hits }) => hits.filter(({ possible }) => possible).length)),
  };
}

/** From 0; infinite when it is not there. */
function placeOf({ wanted, hits }: Answered): number {
  const place = hits.findIndex(({ key }) => key === wanted);
  return place === -1 ? Number.POSITIVE_INFINITY : place;
}

/** The same answers without the hits that score no better than the best of the unanswerable questions may, chosen on `dev`. */
export function cutOnDev(answered: readonly Answered[]): readonly Answered[] {
  const noise = answered.filter(({ wanted, half }) => wanted === undefined && half === "dev");
  const best = noise.map(({ hits }) => hits[0]?.score ?? Number.NEGATIVE_INFINITY);
  const threshold = best.sort((left, right) => right - left)[Math.floor(MOST_FALSE * best.length)] ?? 0;
  return answered.map((one) => ({ ...one, hits: one.hits.filter(({ score }) => score > threshold) }));
}

export function paraphrasesSection(
  answered: ReadonlyMap<SystemId, readonly Answered[]>,
  embeddedBy: string,
): Measured {
  const named: [string, readonly Answered[]][] = [...answered].map(([id, answers]) => [SYSTEMS[id], answers]);
  const vector = answered.get("vector");
  if (vector !== undefined) named.push(["vectors alone, cut off by similarity", cutOnDev(vector)]);
  const rows = named.flatMap(([name, answers]) =>
    (["dev", "held out"] as const).map((half) => rowOf(name, half, answers)),
  );
  const { pairs, unanswerable } = readParaphraseSet();
  const head = [
    "system",
    "half",
    "first",
    "among the first three",
    "its mean score",
    "false hits",
    "… near misses",
    "… others",
    "possible hits",
  ];
  return {
    title: "Facts asked for in other words",
    markdown: [
      `${pairs.length} facts of \`test/data/paraphrase.jsonl\`, one question about each that shares no word with it, and ${unanswerable.length} questions that none answers, ${unanswerable.filter(({ near }) => near !== undefined).length} of them near misses; ${embeddedBy}. False hits: unanswerable questions that are shown a sure hit; possible hits: how many an unanswerable question is shown (aim: at most ${MOST_POSSIBLE}; the fact among the first three: above 85 %). Rankings are tuned on the half called dev alone.${vector === undefined ? "" : CUT_NOTE}`,
      table(head, rows),
      ...aimsMissed(answered.get("hybrid") ?? []),
    ].join("\n\n"),
    json: Object.fromEntries(answered),
  };
}

/** One line, over both halves; none where nothing was asked or nothing is missed. */
export function aimsMissed(answered: readonly Answered[]): readonly string[] {
  if (answered.length === 0) return [];
  const { hitAt3, possible } = paraphraseFigures(answered);
  const missed = [
    ...(hitAt3 > ENOUGH_FOUND ? [] : [`among the first three ${percent(hitAt3)}, aim above 85 %`]),
    ...(possible <= MOST_POSSIBLE
      ? []
      : [`possible hits ${possible.toFixed(2)}, aim at most ${MOST_POSSIBLE}`]),
  ];
  if (missed.length === 0) return [];
  return [
    `Missed by the hybrid as the plugin shows it, both halves together: ${missed.join("; ")}. Why: [decision 27](decisions/0027-what-a-small-model-cannot-tell.md).`,
  ];
}

function rowOf(name: string, half: Half, answered: readonly Answered[]): readonly string[] {
  const figures = paraphraseFigures(answered.filter((one) => one.half === half));
  const { hitAt1, hitAt3, meanScore, falseHits, falseHitsNear, falseHitsOther, possible } = figures;
  return [
    name,
    half,
    ...[hitAt1, hitAt3].map(percent),
    Number.isNaN(meanScore) ? "" : meanScore.toFixed(3),
    ...[falseHits, falseHitsNear, falseHitsOther].map(percent),
    possible.toFixed(2),
  ];
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
