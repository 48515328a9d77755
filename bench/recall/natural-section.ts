/** The tables and the picture of the natural set: the results at each size, for each half, and the curve over the cut-offs. */
import { WEIGHTS } from "../../recall/weights.ts";
import { type Measured, mean, percent, table } from "../measured.ts";
import { type Curve, curvePicture } from "./curve-picture.ts";
import { CANDIDATES_BY, COMPARED, NATURAL_HALVES, NATURAL_SIZES, type NaturalAnswer } from "./natural.ts";
import { shownBy } from "./possible-hits.ts";
import { SYSTEMS, type SystemId } from "./recall-systems.ts";

/** Written beside docs/benchmarks.md. */
const PICTURE = "benchmarks-possible-hits.svg";

const FIRST = 3;
const CHOSEN = WEIGHTS.possible;
const CHANCES = [...new Set([0, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, CHOSEN.least])].sort(
  (left, right) => left - right,
);
/** The usual estimate for English. */
const CHARACTERS_PER_TOKEN = 4;
const TOKENS_AIM = 150;

type Answers = readonly NaturalAnswer[];

/** The share of the questions whose fact is among the first three hits. Counts only sure hits if `isSure`. */
export function shownRight(answers: Answers, isSure = false): number {
  const found = answers.map(({ hits, wanted }) => {
    const seen = hits.slice(0, FIRST).filter(({ possible }) => !(isSure && possible));
    return seen.some(({ key }) => key === wanted) ? 1 : 0;
  });
  return mean(found);
}

/** The mean number of possible hits for a question. */
export function shownWrong(answers: Answers): number {
  return mean(answers.map(({ hits }) => hits.filter(({ possible }) => possible).length));
}

export function naturalSection(answers: Answers, embeddedBy: string): Measured {
  const count = (of: (answer: NaturalAnswer) => boolean) =>
    answers.filter((one) => one.system === "keyword" && one.size === NATURAL_SIZES[0] && of(one)).length;
  const english = count(({ kind }) => kind !== "languages" && kind !== "unanswerable");
  return {
    title: "Everyday questions",
    command: "npm run bench:recall -- --only natural",
    markdown: [
      `${english} questions as people ask them, ${count(({ kind }) => kind === "languages")} in other languages, and ${count(({ kind }) => kind === "unanswerable")} unanswerable ones (\`test/data/natural-*.jsonl\`), in memories of 20, 200 and 2,000 facts; ${embeddedBy}. The table has the held-out half; rankings are tuned on the other half only. A figure is the share of questions whose fact is among the first three hits. *own*: asked in the fact's words. *part*: shares one or more words. *paraphrase*: shares none. FTS5 returns hits for every question, so it has no figures for unanswerable ones.`,
      halfTable(answers.filter((one) => one.half === "held-out" && isShipped(one.system))),
      tokensLine(answers),
      `A possible hit needs a chance of at least ${CHOSEN.least}; at most ${CHOSEN.most} are shown. The picture shows, for the half that rankings are tuned on, what other least chances would do:`,
      `![Right and wrong hits by the least chance of a possible hit](${PICTURE})`,
    ].join("\n\n"),
    details: [
      ...NATURAL_HALVES.flatMap((half) => [
        `**${half}**, with the rankings before the cut-off`,
        halfTable(answers.filter((one) => one.half === half)),
      ]),
      "Least chance of a possible hit, dev half: right, and possible hits per unanswerable question",
      curveTable(answers),
    ].join("\n\n"),
    json: answers,
    picture: { name: PICTURE, svg: curvePicture(curvesOf(answers), CHOSEN.most) },
  };
}

function halfTable(answers: Answers): string {
  const head = [
    ...["facts", "system", "own", "part", "paraphrase", "all", "all, sure hits only", "other languages"],
    ...["unanswerable: possible hits", "… that get a sure hit"],
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

/** For searches that show possible hits, over both halves and all sizes. */
function tokensLine(answers: Answers): string {
  const shown = answers
    .filter(({ system, possibleCharacters }) => isShown(system) && possibleCharacters.text > 0)
    .map(({ possibleCharacters }) => possibleCharacters);
  const tokens = (characters: readonly number[]) => {
    const each = characters.map((count) => count / CHARACTERS_PER_TOKEN);
    return `${Math.round(mean(each))} tokens on average and ${Math.round(Math.max(...each))} at most`;
  };
  return `Cost in the prompt, at ${CHARACTERS_PER_TOKEN} characters per token: the possible hits of one search take ${tokens(shown.map(({ text }) => text))} (aim: at most ${TOKENS_AIM}). With the other fields of OpenClaw's JSON, it is ${tokens(shown.map(({ json }) => json))}.`;
}

/** Rankings before the cut-off are only for tuning. */
function isShipped(system: SystemId): boolean {
  return isShown(system) || system === "fts5";
}

function isShown(system: SystemId): boolean {
  return system === "keyword" || system === "hybrid";
}

/** Curves for keyword and hybrid search at each size, with a point for each least chance. */
function curvesOf(answers: Answers): readonly Curve[] {
  return Object.entries(CANDIDATES_BY).flatMap(([by, system]) =>
    NATURAL_SIZES.flatMap((size) => {
      const of = answers.filter((one) => one.half === "dev" && one.size === size && one.system === system);
      if (of.length === 0) return [];
      const points = CHANCES.map((least) => pointAt(of, least));
      return [{ name: `${by}, ${size.toLocaleString("en")} facts`, points }];
    }),
  );
}

function pointAt(answers: Answers, least: number) {
  const shown = answers.map((one) => ({ ...one, hits: shownBy(one.hits, { ...CHOSEN, least }) }));
  const isAnswerable = ({ kind }: NaturalAnswer) => kind !== "unanswerable" && kind !== "languages";
  return {
    right: shownRight(shown.filter(isAnswerable)),
    wrong: shownWrong(shown.filter(({ kind }) => kind === "unanswerable")),
    isChosen: least === CHOSEN.least,
  };
}

function curveTable(answers: Answers): string {
  const curves = curvesOf(answers);
  const rows = CHANCES.map((least, place) => [
    least === CHOSEN.least ? `**${least}**` : String(least),
    ...curves.map(({ points }) => {
      const point = points[place];
      return point === undefined ? "" : `${percent(point.right)}, ${point.wrong.toFixed(2)}`;
    }),
  ]);
  return table(["least chance", ...curves.map(({ name }) => name)], rows);
}
