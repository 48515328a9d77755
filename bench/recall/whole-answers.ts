/** Measures whole answers: all facts of a name, both facts of a question about two things, the newer of two, and what an answer costs. */
import { hitsForHost } from "../../plugin/boundary.ts";
import { type Measured, mean, percent, table } from "../measured.ts";
import { readBothTrue, readNames, readOldAndNew, readTwoTopics } from "../sets/answer-sets.ts";
import { readPersonalSet } from "../sets/personal-set.ts";
import { type FactLine, readTestData } from "./conversations.ts";
import { memoryOf } from "./natural.ts";
import { readNaturalSet } from "./natural-set.ts";
import { halfOf } from "./paraphrase-set.ts";
import { lineOf } from "./paraphrases.ts";
import { isOf } from "./people-facts.ts";
import { paraphraseSet } from "./possible-hits.ts";
import type { Bench, Hit, Systems } from "./recall-systems.ts";
import { sureSets } from "./sure-hits.ts";

const BY = { keyword: "keywords", hybrid: "hybrid" } as const;
type By = keyof typeof BY;
const HALVES = { tune: "tuned on", held: "held out" } as const;
type Half = keyof typeof HALVES;

const SHOWN = 10;
const CHARACTERS_PER_TOKEN = 4;

interface Asked {
  readonly half: Half;
  readonly question: string;
  /** Keys. Empty if nothing answers. */
  readonly wanted: readonly string[];
}

interface Answer extends Asked {
  readonly by: By;
  readonly hits: readonly Hit[];
  readonly tokens: number;
}

async function askAll(systems: Systems, questions: readonly Asked[]): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const by of Object.keys(BY) as By[]) {
    const search = systems.get(by);
    if (search === undefined) continue;
    for (const asked of questions) {
      const hits = await search(asked.question, SHOWN);
      const tokens = JSON.stringify(hitsForHost(hits, SHOWN).hits, null, 2).length / CHARACTERS_PER_TOKEN;
      answers.push({ ...asked, by, hits: hits.map(plainHit), tokens });
    }
  }
  return answers;
}

function plainHit({ key, score, possible, conflictsWith }: Hit): Hit {
  return {
    ...{ key, score, ...(possible && { possible }) },
    ...(conflictsWith && { conflictsWith: conflictsWith.map((other) => ({ key: other.key })) }),
  };
}

/** One row for each way of searching and half. */
function rowsBy<T extends Pick<Answer, "by" | "half">>(
  answers: readonly T[],
  cellsOf: (of: readonly T[]) => readonly string[],
): readonly (readonly string[])[] {
  return (Object.keys(BY) as By[]).flatMap((by) =>
    (Object.keys(HALVES) as Half[]).flatMap((half) => {
      const of = answers.filter((one) => one.by === by && one.half === half);
      return of.length === 0 ? [] : [[BY[by], HALVES[half], ...cellsOf(of)]];
    }),
  );
}

/** 120 facts of three sets, and those about names. Two of the personal facts have the key of an everyday one. */
function mixedMemory(): readonly FactLine[] {
  const everyday = readTestData<{ readonly key: string; readonly value: string }>("everyday-facts");
  const english = readNaturalSet().facts.filter(({ language }) => language === undefined);
  const taken = new Set([...everyday, ...english].map(({ key }) => key));
  const personal = readPersonalSet().facts.map((fact) =>
    taken.has(fact.key) ? { ...fact, key: `my_${fact.key}` } : fact,
  );
  const facts = [...everyday, ...english, ...personal, ...readNames().facts];
  return facts.map(({ key, value }, place) => lineOf({ key, fact: value }, place));
}

export async function askNames(bench: Bench): Promise<readonly Answer[]> {
  const { facts, questions } = readNames();
  const asked = questions.map(({ half, name, question }) => {
    return { half, question, wanted: facts.filter((fact) => fact.name.includes(name)).map(({ key }) => key) };
  });
  return askAll(await bench.fill("names", mixedMemory()), asked);
}

export function namesSection(answers: readonly Answer[], embeddedBy: string): Measured {
  const { facts } = readNames();
  return {
    title: "Names alone",
    command: "npm run bench:recall -- --only names",
    markdown: [
      `${facts.length} facts about 12 names among 120 others (\`test/data/names-*.jsonl\`), asked for by the name alone, or for everything about it; ${embeddedBy}. Right: each fact that has the name. Others: hits without it, for each question.`,
      table(
        ["by", "half", "questions", "of the facts shown", "sure", "all shown", "others"],
        rowsBy(answers, (of) => [
          `${of.length}`,
          percent(mean(of.map((one) => rightIn(one).length / one.wanted.length)), 1),
          percent(
            mean(
              of.map((one) => rightIn(one).filter(({ possible }) => !possible).length / one.wanted.length),
            ),
            1,
          ),
          percent(mean(of.map((one) => (rightIn(one).length === one.wanted.length ? 1 : 0))), 1),
          mean(of.map((one) => one.hits.length - rightIn(one).length)).toFixed(2),
        ]),
      ),
    ].join("\n\n"),
    json: answers,
  };
}

function rightIn({ hits, wanted }: Pick<Answer, "hits" | "wanted">): readonly Hit[] {
  return hits.filter(({ key }) => wanted.some((one) => isOf(one, key)));
}

export async function askTwoTopics(bench: Bench): Promise<readonly Answer[]> {
  const asked = readTwoTopics().map(({ half, question, expect }) => ({ half, question, wanted: expect }));
  return askAll(await bench.fill("two-topics", mixedMemory()), asked);
}

export function twoTopicsSection(answers: readonly Answer[], embeddedBy: string): Measured {
  return {
    title: "Two topics",
    command: "npm run bench:recall -- --only topics",
    markdown: [
      `Questions that ask two things at once (\`test/data/two-topics.jsonl\`), in a memory of 164 facts; ${embeddedBy}.`,
      table(
        ["by", "half", "both shown", "one shown", "both sure", "hits", "others"],
        rowsBy(answers, (of) => {
          const count = (holds: (right: readonly Hit[]) => boolean) =>
            `${of.filter((one) => holds(rightIn(one))).length} of ${of.length}`;
          return [
            count((right) => right.length === 2),
            count((right) => right.length === 1),
            count((right) => right.length === 2 && right.every(({ possible }) => !possible)),
            mean(of.map(({ hits }) => hits.length)).toFixed(2),
            mean(of.map((one) => one.hits.length - rightIn(one).length)).toFixed(2),
          ];
        }),
      ),
    ].join("\n\n"),
    json: answers,
  };
}

/** A pair in one order of storing. */
interface PairAnswer extends Answer {
  readonly set: "old and new" | "both true";
  readonly earlier: string;
  readonly later: string;
}

/** The memory of a half has all of its pairs: the first facts of each, then the second ones; and the other way round. */
export async function askChanges(bench: Bench): Promise<readonly PairAnswer[]> {
  const pairs = [
    ...readOldAndNew().map((pair) => ({ ...pair, set: "old and new" as const, a: pair.old, b: pair.new })),
    ...readBothTrue().map((pair) => ({ ...pair, set: "both true" as const })),
  ];
  const answers: PairAnswer[] = [];
  for (const half of Object.keys(HALVES) as Half[]) {
    for (const order of ["written", "turned"] as const) {
      const stored = pairs
        .filter((pair) => pair.half === half)
        .map(({ a, b, ...pair }) => ({
          ...pair,
          ...(order === "written" ? { first: a, second: b } : { first: b, second: a }),
          wanted: [a.key],
        }));
      const facts = [...stored.map(({ first }) => first), ...stored.map(({ second }) => second)];
      const systems = await bench.fill(
        `changes-${half}-${order}`,
        facts.map(({ key, value }, place) => lineOf({ key, fact: value }, place)),
      );
      const asked = await askAll(systems, stored);
      answers.push(
        ...asked.map((answer, place) => {
          const { set, first, second } = stored[place % stored.length] ?? failed();
          return { ...answer, set, earlier: first.key, later: second.key };
        }),
      );
    }
  }
  return answers;
}

function failed(): never {
  throw new Error("An answer to a question that was not asked.");
}

export function changesSection(answers: readonly PairAnswer[], embeddedBy: string): Measured {
  const changed = answers.filter(({ set }) => set === "old and new");
  const bothTrue = answers.filter(({ set }) => set === "both true");
  const shows = ({ hits }: PairAnswer, key: string) => hits.some((hit) => hit.key === key);
  return {
    title: "Old and new",
    command: "npm run bench:recall -- --only changes",
    markdown: [
      `60 pairs of an old and a new fact under other keys (\`test/data/old-new.jsonl\`), in both orders of storing, so that each is once the newer one, and the question a person would ask; ${embeddedBy}. Named: one of the two says that it contradicts the other.`,
      table(
        ["by", "half", "old alone", "new alone", "both", "neither", "named", "newer first, of both"],
        rowsBy(changed, (of) => {
          const count = (holds: (one: PairAnswer) => boolean) => `${of.filter(holds).length} of ${of.length}`;
          const both = of.filter((one) => shows(one, one.earlier) && shows(one, one.later));
          return [
            count((one) => shows(one, one.earlier) && !shows(one, one.later)),
            count((one) => !shows(one, one.earlier) && shows(one, one.later)),
            `${both.length} of ${of.length}`,
            count((one) => !shows(one, one.earlier) && !shows(one, one.later)),
            count(isNamed),
            `${both.filter((one) => placeOf(one, one.later) < placeOf(one, one.earlier)).length} of ${both.length}`,
          ];
        }),
      ),
      "60 pairs of facts that are alike and both true (`test/data/both-true.jsonl`), in both orders. Their order should not depend on which is newer.",
      table(
        [
          "by",
          "half",
          "wrongly called a contradiction",
          "order changed",
          "right fact first",
          "right fact shown",
        ],
        rowsBy(bothTrue, (of) => [
          `${new Set(of.filter(isNamed).map(({ question }) => question)).size} of ${of.length / 2}`,
          `${changedOrders(of)} of ${of.length / 2}`,
          `${of.filter(({ hits, wanted }) => hits[0]?.key === wanted[0]).length} of ${of.length}`,
          `${of.filter((one) => rightIn(one).length > 0).length} of ${of.length}`,
        ]),
      ),
    ].join("\n\n"),
    json: answers,
  };
}

function isNamed({ hits, earlier, later }: PairAnswer): boolean {
  return hits.some(({ key, conflictsWith = [] }) =>
    conflictsWith.some((other) => [earlier, later].includes(key) && [earlier, later].includes(other.key)),
  );
}

function placeOf({ hits }: PairAnswer, key: string): number {
  return hits.findIndex((hit) => hit.key === key);
}

/** Pairs of which both are shown in both orders, once the one first and once the other. */
function changedOrders(answers: readonly PairAnswer[]): number {
  const runs = [...Map.groupBy(answers, ({ question }) => question).values()];
  const firstOf = (one: PairAnswer) => {
    const places = [one.earlier, one.later].map((key) => ({ key, place: placeOf(one, key) }));
    if (places.some(({ place }) => place < 0)) return undefined;
    return places.toSorted((a, b) => a.place - b.place)[0]?.key;
  };
  return runs.filter((run) => {
    const firsts = run.map(firstOf).filter((key) => key !== undefined);
    return new Set(firsts).size > 1;
  }).length;
}

const EVERYDAY_FACTS = 200;
const EVERYDAY = "everyday questions, 200 facts";

interface CostAnswer extends Answer {
  readonly set: string;
}

/** The everyday questions among 200 facts, as `bench:peers` asks them, and the unanswerable questions of all sets. */
export async function askCost(bench: Bench): Promise<readonly CostAnswer[]> {
  const answers: CostAnswer[] = [];
  const { questions, unanswerable } = readNaturalSet();
  for (const [half, written] of [
    ["tune", "dev"],
    ["held", "held-out"],
  ] as const) {
    const asked = [
      ...questions.map(({ expect, ...one }) => ({ ...one, wanted: [expect] })),
      ...unanswerable.map((one) => ({ ...one, wanted: [] })),
    ].filter((one) => one.half === written);
    const wanted = new Set(asked.flatMap((one) => one.wanted));
    const systems = await bench.fill(`cost-${half}`, memoryOf(written, wanted, EVERYDAY_FACTS));
    const here = asked.map(({ question, wanted }) => ({ half, question, wanted }));
    answers.push(...(await askAll(systems, here)).map((one) => ({ set: EVERYDAY, ...one })));
  }
  for (const { name, lines, questions } of unanswerableSets()) {
    const systems = await bench.fill(`cost-${name}-${questions[0]?.half}`, lines);
    const never = questions.filter(({ wanted }) => wanted.length === 0);
    answers.push(...(await askAll(systems, never)).map((one) => ({ set: name, ...one })));
  }
  return answers;
}

function unanswerableSets() {
  const { name, lines, questions } = paraphraseSet();
  const byId = questions.map(({ id, ...one }) => ({
    half: halfOf({ id }) === "dev" ? ("tune" as const) : ("held" as const),
    ...one,
  }));
  const others = sureSets().map((set) => ({
    ...set,
    questions: set.questions.map((one) => ({
      ...one,
      half: one.half === "tuned on" ? ("tune" as const) : ("held" as const),
    })),
  }));
  return [...others, { name, lines, questions: byId }];
}

export function costSection(answers: readonly CostAnswer[], embeddedBy: string): Measured {
  const everyday = answers.filter(({ set }) => set === EVERYDAY);
  const never = answers.filter(({ wanted }) => wanted.length === 0);
  const unanswerableCells = (of: readonly CostAnswer[]) => [
    `${of.length}`,
    mean(of.map(({ hits }) => hits.length)).toFixed(2),
    `${Math.max(...of.map(({ hits }) => hits.length))}`,
    percent(mean(of.map(({ hits }) => (hits.some(({ possible }) => !possible) ? 1 : 0))), 1),
  ];
  const sets = [...new Set(never.map(({ set }) => set))];
  return {
    title: "The cost of an answer",
    command: "npm run bench:recall -- --only cost",
    markdown: [
      `The everyday questions among 200 facts, as \`bench:peers\` asks them; ${embeddedBy}. Tokens: of the hits as JSON, at ${CHARACTERS_PER_TOKEN} characters each. Right: wanted facts among all that answerable questions show.`,
      table(
        [
          "by",
          "half",
          "tokens, answerable",
          "tokens, unanswerable",
          "tokens, all",
          "hits, answerable",
          "of these right",
        ],
        rowsBy(everyday, (of) => {
          const [answerable, others] = [true, false].map((is) =>
            of.filter(({ wanted }) => wanted.length > 0 === is),
          ) as [CostAnswer[], CostAnswer[]]; // two
          const shown = answerable.flatMap(({ hits }) => hits).length;
          const tokens = (some: readonly CostAnswer[]) => mean(some.map((one) => one.tokens)).toFixed(1);
          return [
            ...[answerable, others, of].map(tokens),
            (shown / answerable.length).toFixed(2),
            percent(answerable.flatMap((one) => rightIn(one)).length / shown, 1),
          ];
        }),
      ),
      "Unanswerable questions of all sets:",
      table(
        ["questions", "by", "half", "number", "hits", "most", "with a sure hit"],
        [
          ...sets.flatMap((set) =>
            rowsBy(
              never.filter((one) => one.set === set),
              unanswerableCells,
            ).map((row) => [set, ...row]),
          ),
          ...rowsBy(never, unanswerableCells).map((row) => ["**all**", ...row]),
        ],
      ),
    ].join("\n\n"),
    json: answers,
  };
}
