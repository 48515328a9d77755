/** Asks everyday questions of a small, a medium and a large memory, and compares the hits of each way of searching. */
import { hitsForHost } from "../../plugin/boundary.ts";
import type { FactLine } from "./conversations.ts";
import { type NaturalFact, type NaturalHalf, type NaturalKind, readNaturalSet } from "./natural-set.ts";
import { lineOf } from "./paraphrases.ts";
import type { Bench, Hit, SystemId, Systems } from "./recall-systems.ts";
import { unrelatedFact } from "./unrelated-facts.ts";

export const NATURAL_SIZES = [20, 200, 2_000] as const;
export const NATURAL_HALVES: readonly NaturalHalf[] = ["dev", "held-out"];
export const COMPARED = ["keyword", "keywordUncut", "fts5", "hybrid", "hybridUncut"] as const;
/** The systems that the curve is drawn from. */
export const CANDIDATES_BY = { words: "keywordCandidates", hybrid: "hybridCandidates" } as const;

export interface NaturalAnswer {
  readonly half: NaturalHalf;
  readonly size: number;
  readonly system: SystemId;
  /** `languages` if the question is in another language, `unanswerable` if nothing answers it. */
  readonly kind: NaturalKind | "languages" | "unanswerable";
  readonly question: string;
  /** The key of the fact that answers. */
  readonly wanted: string | undefined;
  readonly hits: readonly Hit[];
  /** The size of the possible hits as OpenClaw's model receives them: their text, and all of their JSON. 0 if there are none. */
  readonly possibleCharacters: { readonly text: number; readonly json: number };
}

interface Asked {
  readonly kind: NaturalAnswer["kind"];
  readonly question: string;
  readonly wanted: string | undefined;
}

const SHOWN = 10;

export async function askNatural(bench: Bench): Promise<readonly NaturalAnswer[]> {
  const answers: NaturalAnswer[] = [];
  for (const half of NATURAL_HALVES) {
    for (const size of NATURAL_SIZES) {
      for (const [name, questions] of questionSets(half)) {
        const systems = await bench.fill(
          `natural-${half}-${size}-${name}`,
          memoryOf(half, wantedOf(questions), size),
        );
        answers.push(...(await askAll(systems, questions)).map((answer) => ({ half, size, ...answer })));
      }
    }
  }
  return answers;
}

/** English and other languages have separate memories, so that each fits into the smallest size. */
function questionSets(half: NaturalHalf): readonly (readonly [string, readonly Asked[]])[] {
  const { questions, languages, unanswerable } = readNaturalSet();
  const ofHalf = <T extends { readonly half: NaturalHalf }>(lines: readonly T[]) =>
    lines.filter((line) => line.half === half);
  return [
    [
      "english",
      [
        ...ofHalf(questions).map(({ kind, question, expect }) => ({ kind, question, wanted: expect })),
        ...ofHalf(unanswerable).map(({ question }) => ({
          ...{ kind: "unanswerable" as const, question },
          wanted: undefined,
        })),
      ],
    ],
    [
      "languages",
      ofHalf(languages).map(({ question, expect }) => ({
        kind: "languages" as const,
        question,
        wanted: expect,
      })),
    ],
  ];
}

function wantedOf(questions: readonly Asked[]): ReadonlySet<string | undefined> {
  return new Set(questions.map(({ wanted }) => wanted));
}

/** The wanted facts, then others of the same half and language as far as they fit, then unrelated ones. */
export function memoryOf(
  half: NaturalHalf,
  wanted: ReadonlySet<string | undefined>,
  size: number,
): readonly FactLine[] {
  const facts = readNaturalSet().facts.filter((fact) => fact.half === half);
  const others = facts.filter(({ key, language }) => !wanted.has(key) && language === undefined);
  const own = [...facts.filter(({ key }) => wanted.has(key)), ...others].slice(0, size).map(lineOfFact);
  return [...own, ...Array.from({ length: size - own.length }, (_none, number) => unrelatedFact(number))];
}

/** The English facts of one half. */
export function linesOfHalf(half: NaturalHalf): readonly FactLine[] {
  const facts = readNaturalSet().facts.filter((fact) => fact.half === half && fact.language === undefined);
  return facts.map(lineOfFact);
}

function lineOfFact({ key, value }: NaturalFact, place: number): FactLine {
  return lineOf({ key, fact: value }, place);
}

type AnswerHere = Omit<NaturalAnswer, "half" | "size">;

async function askAll(systems: Systems, questions: readonly Asked[]): Promise<readonly AnswerHere[]> {
  const answers: AnswerHere[] = [];
  for (const system of [...COMPARED, ...Object.values(CANDIDATES_BY)]) {
    const search = systems.get(system);
    if (search === undefined) continue;
    for (const asked of questions) {
      const hits = await search(asked.question, SHOWN);
      answers.push({ system, ...asked, hits: hits.map(plainHit), possibleCharacters: charactersOf(hits) });
    }
  }
  return answers;
}

function plainHit({ key, score, possible }: Hit): Hit {
  return { key, score, ...(possible && { possible }) };
}

function charactersOf(hits: readonly Hit[]): NaturalAnswer["possibleCharacters"] {
  const possible = hits.filter((hit) => hit.possible);
  if (possible.length === 0) return { text: 0, json: 0 };
  const given = hitsForHost(possible, SHOWN).hits;
  const text = given.reduce((sum, { snippet }) => sum + snippet.length, 0);
  return { text, json: JSON.stringify(given, null, 2).length };
}
