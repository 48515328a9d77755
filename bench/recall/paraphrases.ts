/** Measures how many facts are found by a question in other words, and how many hits appear for a question without an answer. */
import { type Measured, mean, percent, table } from "../measured.ts";
import type { FactLine } from "./conversations.ts";
import { type Half, halfOf, readParaphraseSet } from "./paraphrase-set.ts";
import { type Bench, type Hit, SYSTEMS, type SystemId } from "./recall-systems.ts";

/** A question, the wanted key and the hits. */
export interface Answered {
  readonly id: string;
  readonly half: Half;
  /** The key of the fact that answers. Undefined if none does. */
  readonly wanted: string | undefined;
  readonly isNearMiss: boolean;
  readonly hits: readonly Hit[];
}

export interface ParaphraseFigures {
  readonly hitAt1: number;
  readonly hitAt3: number;
  /** Mean score of the right fact, if it is among the first three. */
  readonly meanScore: number;
  /** The share of the unanswerable questions with a sure hit: of near misses, and of the others. */
  readonly falseHits: number;
  readonly falseHitsNear: number;
  readonly falseHitsOther: number;
  /** The mean number of possible hits for an unanswerable question. */
  readonly possible: number;
}

const SUBJECT = "paraphrases";
const SHOWN = 10;
const HOURS_APART_MS = 5 * 3_600_000;
const COMPARED: readonly SystemId[] = ["keyword", "vector", "hybridSure", "hybrid", "hybridUncut"];
/** The largest share of unanswerable questions that a similarity threshold may let through. */
const MOST_FALSE = 0.05;
/** The target for the mean number of possible hits for an unanswerable question. */
const MOST_POSSIBLE = 2;
/** The target for the share of facts among the first three hits. */
const ENOUGH_FOUND = 0.85;
const CUT_NOTE =
  " The last row shows how far one threshold on similarity gets. It was chosen on the other half so that at most 5 % of the unanswerable questions pass.";

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

/** Spaces the facts some hours apart, as in real use. */
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

/** The rank, counted from 0. Infinite if the fact is not among the hits. */
function placeOf({ wanted, hits }: Answered): number {
  const place = hits.findIndex(({ key }) => key === wanted);
  return place === -1 ? Number.POSITIVE_INFINITY : place;
}

/** Removes the hits below a threshold. The threshold is chosen on `dev`, by the best hits of the unanswerable questions. */
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
  if (vector !== undefined) named.push(["vectors only, cut off by similarity", cutOnDev(vector)]);
  const tableOf = (half: Half) =>
    table(
      head,
      named.map(([name, answers]) => rowOf(name, half, answers)),
    );
  const { pairs, unanswerable } = readParaphraseSet();
  const head = [
    "system",
    "fact is first",
    "among the first three",
    "its mean score",
    "false hits",
    "… near misses",
    "… others",
    "possible hits",
  ];
  return {
    title: "Paraphrased questions",
    command: "npm run bench:recall -- --only paraphrases",
    markdown: [
      `The hardest set: ${pairs.length} facts (\`test/data/paraphrase.jsonl\`), each with one question that shares no word with it, and ${unanswerable.length} unanswerable questions. ${unanswerable.filter(({ near }) => near !== undefined).length} of these are near misses: a fact mentions their subject without answering them. ${embeddedBy[0]?.toUpperCase()}${embeddedBy.slice(1)}. False hits: the share of unanswerable questions that get a sure hit. Possible hits: how many an unanswerable question gets. The table has the held-out half of the questions; rankings are tuned on the other half only.${vector === undefined ? "" : CUT_NOTE}`,
      tableOf("held out"),
      `Aims: the fact among the first three for more than 85 %, at most ${MOST_POSSIBLE} possible hits.`,
      ...aimsMissed(answered.get("hybrid") ?? []),
    ].join("\n\n"),
    details: `The half that rankings are tuned on (dev):\n\n${tableOf("dev")}`,
    json: Object.fromEntries(answered),
  };
}

/** One line over both halves. Empty if nothing was asked or every target is met. */
export function aimsMissed(answered: readonly Answered[]): readonly string[] {
  if (answered.length === 0) return [];
  const { hitAt3, possible } = paraphraseFigures(answered);
  const missed = [
    ...(hitAt3 > ENOUGH_FOUND ? [] : [`among the first three ${percent(hitAt3, 1)}, aim above 85 %`]),
    ...(possible <= MOST_POSSIBLE
      ? []
      : [`possible hits ${possible.toFixed(2)}, aim at most ${MOST_POSSIBLE}`]),
  ];
  if (missed.length === 0) return [];
  return [
    `Hybrid search misses, over both halves: ${missed.join("; ")}. [Decision 27](decisions/0027-limits-of-a-small-model.md) has the reasons.`,
  ];
}

function rowOf(name: string, half: Half, answered: readonly Answered[]): readonly string[] {
  const figures = paraphraseFigures(answered.filter((one) => one.half === half));
  const { hitAt1, hitAt3, meanScore, falseHits, falseHitsNear, falseHitsOther, possible } = figures;
  return [
    name,
    ...[hitAt1, hitAt3].map((share) => percent(share, 1)),
    Number.isNaN(meanScore) ? "" : meanScore.toFixed(3),
    ...[falseHits, falseHitsNear, falseHitsOther].map((share) => percent(share, 1)),
    possible.toFixed(2),
  ];
}
