/**
 * `node bench/fit-chances.ts [--embedder builtin|none|URL] [--check]`: prints the weights of a candidate's chance, as they stand in
 * recall/weights.ts; with `--check` it fails if others stand there. A logistic regression of "does it answer the question" over the best candidates of each question of the tuned halves.
 *
 * Every set counts the same, and in each of them seven of eight questions as if a fact answered them: the sets hold more unanswerable ones
 * than people ask.
 */
import { isDeepStrictEqual, parseArgs } from "node:util";
import { type ChanceWeights, WEIGHTS } from "../recall/weights.ts";
import { openBenchMemory, openHybridSearch } from "./recall/bench-memory.ts";
import { benchEmbedder } from "./recall/bench-recall.ts";
import { memoryOf } from "./recall/natural.ts";
import { readNaturalSet } from "./recall/natural-set.ts";
import { halfOf } from "./recall/paraphrase-set.ts";
import { lineOf } from "./recall/paraphrases.ts";
import { isOf } from "./recall/people-facts.ts";
import { everydaySet, paraphraseSet, peopleSet, type QuestionSet } from "./recall/possible-hits.ts";
import { readPersonalSet } from "./sets/personal-set.ts";

const ANSWERED = 7 / 8;
/** An answer shows no more. */
const BEST = 6;
const NATURAL_SIZES = [20, 200] as const;

type AskedSet = Pick<QuestionSet, "lines" | "questions">;

/** What a chance is made of, in the order of {@link NAMES}. */
interface Row {
  readonly values: readonly number[];
  readonly isRight: boolean;
  readonly weight: number;
}

const NAMES = ["base", "merit", "lead", "behind", "lacking"] as const;

/** What recall tells of a candidate. */
interface Explained {
  readonly key: string;
  readonly parts?: Readonly<Record<string, { readonly value: number; readonly weight: number }>>;
}

type Explain = (question: string) => Promise<readonly Explained[]>;

export async function rowsOf({ questions }: AskedSet, explain: Explain): Promise<readonly Row[]> {
  const answered = questions.filter(({ wanted }) => wanted.length > 0).length;
  const rows: Row[] = [];
  for (const { question, wanted } of questions) {
    const isAnswered = wanted.length > 0;
    const weight = isAnswered ? ANSWERED / answered : (1 - ANSWERED) / (questions.length - answered);
    const candidates = (await explain(question)).map((one) => ({ ...one, merit: meritOf(one) }));
    const best = candidates[0]?.merit ?? 0;
    for (const { key, merit, parts } of candidates.slice(0, BEST)) {
      const [lead, lacking] = [parts?.lead?.value ?? 0, parts?.lacking?.value ?? 0];
      const isRight = wanted.some((one) => isOf(one, key));
      rows.push({ values: [1, merit, lead, best - merit, lacking], isRight, weight });
    }
  }
  return rows;
}

function meritOf({ parts = {} }: Explained): number {
  return Object.keys(WEIGHTS.fact.merit).reduce((sum, name) => {
    const { value, weight } = parts[name] ?? { value: 0, weight: 0 };
    return sum + value * weight;
  }, 0);
}

/** By Newton's method. A tiny penalty keeps the matrix definite. */
export function fitted(rows: readonly Row[]): ChanceWeights {
  const [penalty, steps] = [1e-6, 50];
  const sum = (term: (row: Row & { chance: number }) => number, chances: readonly number[]) =>
    rows.reduce((total, row, at) => total + row.weight * term({ ...row, chance: chances[at] ?? 0 }), 0);
  const at = (values: readonly number[], place: number) => values[place] ?? 0;
  let weights = NAMES.map(() => 0);
  for (let step = 0; step < steps; step += 1) {
    const chances = rows.map(({ values }) => 1 / (1 + Math.exp(-dot(values, weights))));
    const slope = NAMES.map((_, place) =>
      sum(({ values, isRight, chance }) => (Number(isRight) - chance) * at(values, place), chances),
    );
    const curve = NAMES.map((_, place) =>
      NAMES.map(
        (__, other) =>
          sum(
            ({ values, chance }) => chance * (1 - chance) * at(values, place) * at(values, other),
            chances,
          ) + (place === other ? penalty : 0),
      ),
    );
    const change = solved(curve, slope);
    weights = weights.map((weight, place) => weight + at(change, place));
  }
  const [base = 0, merit = 0, lead = 0, behind = 0, lacking = 0] = weights.map((weight) =>
    Number(weight.toFixed(2)),
  );
  return { base, merit, lead, behind, lacking };
}

function dot(left: readonly number[], right: readonly number[]): number {
  return left.reduce((sum, value, place) => sum + value * (right[place] ?? 0), 0);
}

/** By Gauss and Seidel, which converges for a positive definite matrix. */
function solved(matrix: readonly (readonly number[])[], right: readonly number[]): readonly number[] {
  const found = right.map(() => 0);
  for (let sweep = 0; sweep < 1_000; sweep += 1)
    for (const [place, line] of matrix.entries()) {
      const own = line[place] ?? 1;
      const others = dot(line, found) - own * (found[place] ?? 0);
      found[place] = ((right[place] ?? 0) - others) / own;
    }
  return found;
}

/** The tuned halves. */
export function tunedSets(): readonly AskedSet[] {
  const onDev = ({ lines, questions }: AskedSet): AskedSet => {
    return { lines, questions: questions.filter((question) => halfOf(question) === "dev") };
  };
  const { questions, unanswerable } = readNaturalSet();
  const natural = [...questions, ...unanswerable]
    .filter(({ half }) => half === "dev")
    .map((one) => ({
      id: one.question,
      question: one.question,
      wanted: "expect" in one ? [one.expect] : [],
    }));
  const wanted = new Set(natural.flatMap((one) => one.wanted));
  return [
    ...[peopleSet(), everydaySet(), paraphraseSet()].map(onDev),
    ...NATURAL_SIZES.map((size) => ({ lines: memoryOf("dev", wanted, size), questions: natural })),
    personalSet(),
  ];
}

function personalSet(): AskedSet {
  const { facts, questions } = readPersonalSet();
  return {
    lines: facts.map(({ key, value, category }, place) => ({
      ...lineOf({ key, fact: value }, place),
      ...(category !== undefined && { category }),
    })),
    questions: questions
      .filter(({ half }) => half === "tune")
      .map((one) => ({
        ...{ id: one.question, question: one.question },
        wanted: one.kind === "answerable" ? [one.expect] : [],
      })),
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { embedder: { type: "string", default: "builtin" }, check: { type: "boolean" } },
  });
  const embedder = benchEmbedder(values.embedder);
  const memory = await openBenchMemory();
  const hybrid = embedder && openHybridSearch(memory.memory.store, embedder, { showsAll: true });
  const rows: Record<"words" | "meaning", Row[]> = { words: [], meaning: [] };
  try {
    for (const [place, set] of tunedSets().entries()) {
      const subject = `set-${place}`;
      await memory.fill(subject, set.lines);
      rows.words.push(...(await rowsOf(set, (question) => memory.explained(subject, question, 2 * BEST))));
      if (hybrid === undefined) continue;
      await hybrid.fill(subject);
      rows.meaning.push(...(await rowsOf(set, (question) => hybrid.explained(subject, question, 2 * BEST))));
    }
    for (const by of ["words", "meaning"] as const) {
      if (rows[by].length === 0) continue;
      const chance = fitted(rows[by]);
      console.log(`${by}:`, chance);
      if (values.check === true && !isDeepStrictEqual(chance, WEIGHTS.fact.chance[by])) process.exitCode = 1;
    }
  } finally {
    hybrid?.close();
    await memory.close();
    embedder?.close();
  }
}

if (import.meta.main) await main();
