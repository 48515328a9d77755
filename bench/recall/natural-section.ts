/** The tables and the picture of the natural set: what is shown at each size, each half by itself, and the curve over the cut. */
import { WEIGHTS } from "../../recall/index.ts";
import { type Measured, mean, table } from "../measured.ts";
import { type Curve, curvePicture } from "./curve-picture.ts";
import { CANDIDATES_BY, COMPARED, NATURAL_HALVES, NATURAL_SIZES, type NaturalAnswer } from "./natural.ts";
import { shownBy } from "./possible-hits.ts";
import { SYSTEMS, type SystemId } from "./recall-systems.ts";

/** Beside docs/benchmarks.md. */
const PICTURE = "benchmarks-possible-hits.svg";

const FIRST = 3;
const CHOSEN = WEIGHTS.possible;
const FLOORS = [...new Set([0, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, CHOSEN.floor])].sort(
  (left, right) => left - right,
);
/** The usual estimate for English. */
const CHARACTERS_PER_TOKEN = 4;
const TOKENS_AIM = 150;

type Answers = readonly NaturalAnswer[];

/** The share of the questions whose fact is among the first three shown; sure hits alone where said. */
export function shownRight(answers: Answers, isSure = false): number {
  const found = answers.map(({ hits, wanted }) => {
    const seen = hits.slice(0, FIRST).filter(({ possible }) => !(isSure && possible));
    return seen.some(({ key }) => key === wanted) ? 1 : 0;
  });
  return mean(found);
}

/** Possible hits that a question is shown, mean. */
export function shownWrong(answers: Answers): number {
  return mean(answers.map(({ hits }) => hits.filter(({ possible }) => possible).length));
}

export function naturalSection(answers: Answers, embeddedBy: string): Measured {
  const count = (of: (answer: NaturalAnswer) => boolean) =>
    answers.filter((one) => one.system === "keyword" && one.size === NATURAL_SIZES[0] && of(one)).length;
  const english = count(({ kind }) => kind !== "languages" && kind !== "unanswerable");
  return {
    title: "Everyday questions",
    markdown: [
      `${english} questions as people ask them, ${count(({ kind }) => kind === "languages")} in other languages and ${count(({ kind }) => kind === "unanswerable")} that nothing answers (\`test/data/natural-*.jsonl\`), each half asked of a memory of its own facts, filled up with unrelated ones; ${embeddedBy}. Shown: the fact is among the first three. \`own\` is asked in the fact's words, \`part\` shares one or more of them, \`paraphrase\` none. FTS5 and the rankings before the cut-off never stay silent: they show three hits for whatever is asked. Rankings are tuned on the half called dev alone.`,
      ...NATURAL_HALVES.flatMap((half) => [
        `**${half}**`,
        halfTable(answers.filter((one) => one.half === half)),
      ]),
      tokensLine(answers),
      `The curve, on the half called dev alone: shown right, and possible hits that an unanswerable question is shown, over the least score of a possible hit (in use: ${CHOSEN.floor}, with the ratio ${CHOSEN.ratio}, at most ${CHOSEN.most}).`,
      curveTable(answers),
      `![Shown right against shown wrong, over the least score of a possible hit](${PICTURE})`,
    ].join("\n\n"),
    json: answers,
    picture: { name: PICTURE, svg: curvePicture(curvesOf(answers), CHOSEN.most) },
  };
}

function halfTable(answers: Answers): string {
  const head = [
    ...["facts", "system", "own", "part", "paraphrase", "all", "all, surely", "other languages"],
    ...["unanswerable: possible hits", "… with a sure hit"],
  ];
  const rows = NATURAL_SIZES.flatMap((size) =>
    COMPARED.flatMap((system) => {
      const of = answers.filter((one) => one.size === size && one.system === system);
      return of.length === 0 ? [] : [rowOf(size, system, of)];
    }),
  );
  return table(head, rows);
}

function rowOf(size: number, system: SystemId, answers: Answers): readonly string[] {
  const ofKind = (...kinds: readonly NaturalAnswer["kind"][]) =>
    answers.filter(({ kind }) => kinds.includes(kind));
  const english = ofKind("own", "part", "paraphrase");
  const hasCutOff = system === "keyword" || system === "hybrid";
  const unanswerable = ofKind("unanswerable");
  const alarms = mean(unanswerable.map(({ hits }) => (hits.some(({ possible }) => !possible) ? 1 : 0)));
  return [
    size.toLocaleString("en"),
    hasCutOff ? `**${SYSTEMS[system]}**` : SYSTEMS[system],
    ...[ofKind("own"), ofKind("part"), ofKind("paraphrase"), english].map((of) => percent(shownRight(of))),
    hasCutOff ? percent(shownRight(english, true)) : "",
    percent(shownRight(ofKind("languages"))),
    ...(hasCutOff ? [shownWrong(unanswerable).toFixed(2), percent(alarms)] : ["", ""]),
  ];
}

/** Over both halves and all sizes, of the searches that show possible hits. */
function tokensLine(answers: Answers): string {
  const shown = answers
    .filter(({ system, possibleCharacters }) => isShown(system) && possibleCharacters.text > 0)
    .map(({ possibleCharacters }) => possibleCharacters);
  const tokens = (characters: readonly number[]) => {
    const each = characters.map((count) => count / CHARACTERS_PER_TOKEN);
    return `${Math.round(mean(each))} tokens in the mean and ${Math.round(Math.max(...each))} at most`;
  };
  return `The text of the possible hits of one search is ${tokens(shown.map(({ text }) => text))}, at ${CHARACTERS_PER_TOKEN} characters each (aim: at most ${TOKENS_AIM}); with the other fields of OpenClaw's JSON they are ${tokens(shown.map(({ json }) => json))}.`;
}

function isShown(system: SystemId): boolean {
  return system === "keyword" || system === "hybrid";
}

/** For words and hybrid, and each size: a point for each floor. */
function curvesOf(answers: Answers): readonly Curve[] {
  return Object.entries(CANDIDATES_BY).flatMap(([by, system]) =>
    NATURAL_SIZES.flatMap((size) => {
      const of = answers.filter((one) => one.half === "dev" && one.size === size && one.system === system);
      if (of.length === 0) return [];
      const points = FLOORS.map((floor) => pointAt(of, floor));
      return [{ name: `${by}, ${size.toLocaleString("en")} facts`, points }];
    }),
  );
}

function pointAt(answers: Answers, floor: number) {
  const shown = answers.map((one) => ({ ...one, hits: shownBy(one.hits, { ...CHOSEN, floor }) }));
  const isAnswerable = ({ kind }: NaturalAnswer) => kind !== "unanswerable" && kind !== "languages";
  return {
    right: shownRight(shown.filter(isAnswerable)),
    wrong: shownWrong(shown.filter(({ kind }) => kind === "unanswerable")),
    isChosen: floor === CHOSEN.floor,
  };
}

function curveTable(answers: Answers): string {
  const curves = curvesOf(answers);
  const rows = FLOORS.map((floor, place) => [
    floor === CHOSEN.floor ? `**${floor}**` : String(floor),
    ...curves.map(({ points }) => {
      const point = points[place];
      return point === undefined ? "" : `${percent(point.right)}, ${point.wrong.toFixed(2)}`;
    }),
  ]);
  return table(["least score", ...curves.map(({ name }) => name)], rows);
}

function percent(share: number): string {
  return Number.isNaN(share) ? "" : `${(100 * share).toFixed(0)} %`;
}
