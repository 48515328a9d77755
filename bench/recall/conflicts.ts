/** Counts the contradictions that are found, and the pairs of facts that are wrongly called one. */

import { Claim } from "../../recall/claims.ts";
import { type Relation, relationOf } from "../../recall/conflicts.ts";
import type { Embedder } from "../../recall/embedder.ts";
import { cosine, measureSpace, ReferenceVectors } from "../../recall/meaning/reference-vectors.ts";
import { type Measured, table } from "../measured.ts";
import { readPairs } from "../sets/pairs-set.ts";

const HALVES = { tune: "tuned on", held: "held out" } as const;
type By = "keywords" | "hybrid";
type Pair = ReturnType<typeof readPairs>[number];

export interface ComparedPair extends Pick<Pair, "half" | "label"> {
  readonly by: By;
  /** What the two facts were called. */
  readonly relation: Relation;
}

interface ConflictFigures {
  readonly contradictions: number;
  readonly found: number;
  /** Pairs that say the same or are near, and how many of them were called a contradiction. */
  readonly others: number;
  readonly wrong: number;
}

/** Without an embedder by keywords alone. */
export async function comparePairs(embedder: Embedder | undefined): Promise<readonly ComparedPair[]> {
  const pairs = readPairs();
  const claims = pairs.map(({ a, b }) => [new Claim(a), new Claim(b)] as const);
  const compared = (by: By, deviations: readonly number[]) =>
    claims.map(([a, b], place) => ({ by, relation: relationOf(a, b, deviations[place]) }));
  const answers = [
    ...compared("keywords", []),
    ...(embedder === undefined ? [] : compared("hybrid", await deviationsOf(pairs, embedder))),
  ];
  return answers.map((answer, place) => {
    const { half, label } = pairs[place % pairs.length] ?? { half: "tune", label: "near" };
    return { half, label, ...answer };
  });
}

/** As a new fact's similarity to a stored one is judged. */
async function deviationsOf(pairs: readonly Pair[], embedder: Embedder): Promise<readonly number[]> {
  const space = measureSpace(await new ReferenceVectors().get(embedder));
  const stored = await embedder.embedDocuments(pairs.map(({ a }) => a.value));
  const deviations: number[] = [];
  for (const [place, { b }] of pairs.entries()) {
    const asked = await embedder.embedQuery(b.value);
    deviations.push(space(asked)(cosine(asked, stored.vectors[place] ?? new Float32Array())));
  }
  return deviations;
}

function conflictFigures(pairs: readonly ComparedPair[]): ConflictFigures {
  const called = ({ relation }: ComparedPair) => relation === "contradict";
  const [contradictions, others] = [true, false].map((isTrue) =>
    pairs.filter(({ label }) => (label === "contradict") === isTrue),
  ) as [ComparedPair[], ComparedPair[]]; // two
  return {
    contradictions: contradictions.length,
    found: contradictions.filter(called).length,
    others: others.length,
    wrong: others.filter(called).length,
  };
}

export function conflictsSection(pairs: readonly ComparedPair[], embeddedBy: string): Measured {
  const rows = [...new Set(pairs.map(({ by }) => by))].flatMap((by) =>
    Object.entries(HALVES).map(([half, name]) => {
      const of = conflictFigures(pairs.filter((pair) => pair.by === by && pair.half === half));
      return [by, name, `${of.found} of ${of.contradictions}`, `${of.wrong} of ${of.others}`];
    }),
  );
  return {
    title: "Contradictions",
    command: "npm run bench:recall -- --only conflicts",
    markdown: [
      `150 pairs of facts (\`test/data/pairs.jsonl\`): a third contradict each other, a third say the same in other words or notation, a third are near, such as two people's birthdays; ${embeddedBy}. Rules are tuned on one half only. A wrong call costs more than a missed one. Answers, stores and \`tidy\` judge by the model, too, where it has read both facts.`,
      table(["by", "half", "contradictions found", "other pairs wrongly called one"], rows),
    ].join("\n\n"),
    json: pairs,
  };
}
