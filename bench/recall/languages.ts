/** Measures six languages in one memory: questions in the fact's own language, and English questions about facts in the others. */
import { type Measured, mean, percent, table } from "../measured.ts";
import { readLanguages } from "../sets/languages-set.ts";
import { lineOf } from "./paraphrases.ts";
import type { Bench, Hit } from "./recall-systems.ts";
import { unrelatedFact } from "./unrelated-facts.ts";

const HALVES = { tune: "tuned on", held: "held out" } as const;
const BY = { keyword: "keywords", vector: "vectors only", hybrid: "hybrid" } as const;
type By = keyof typeof BY;
const SHOWN = 3;
/** As many as the other languages have fillers. */
const UNRELATED = 50;

export interface LanguageAnswer {
  readonly half: keyof typeof HALVES;
  readonly asked: string;
  readonly by: By;
  readonly wanted: string;
  readonly hits: readonly Hit[];
}

export async function askLanguages(bench: Bench): Promise<readonly LanguageAnswer[]> {
  const { facts, fillers } = readLanguages();
  const own = [...facts, ...fillers].map(({ key, value }, place) => lineOf({ key, fact: value }, place));
  const unrelated = Array.from({ length: UNRELATED }, (_none, number) => unrelatedFact(number));
  const systems = await bench.fill("languages", [...own, ...unrelated]);
  const names = new Intl.DisplayNames("en", { type: "language" });
  const answers: LanguageAnswer[] = [];
  for (const by of Object.keys(BY) as By[]) {
    const search = systems.get(by);
    if (search === undefined) continue;
    for (const { half, language, key, question, english } of facts) {
      const name = names.of(language) ?? language;
      const one = { half, by, wanted: key };
      answers.push({ ...one, asked: name, hits: await search(question, SHOWN) });
      if (english === undefined) continue;
      answers.push({ ...one, asked: `English, of ${name}`, hits: await search(english, SHOWN) });
    }
  }
  return answers;
}

export function languagesSection(answers: readonly LanguageAnswer[], embeddedBy: string): Measured {
  const systems = (Object.keys(BY) as By[]).filter((by) => answers.some((one) => one.by === by));
  const halves = Object.keys(HALVES) as (keyof typeof HALVES)[];
  const rows = [...new Set(answers.map(({ asked }) => asked))].sort().flatMap((asked) =>
    halves.map((half) => {
      const of = answers.filter((one) => one.asked === asked && one.half === half);
      const cells = systems.flatMap((by) =>
        cellsOf(
          by,
          of.filter((one) => one.by === by),
        ),
      );
      return [asked, HALVES[half], `${of.length / systems.length}`, ...cells];
    }),
  );
  const columns = systems.flatMap((by) => [
    `${BY[by]}: first`,
    "among the first three",
    ...(by === "vector" ? [] : ["first and sure", "wrong and sure"]),
  ]);
  return {
    title: "Six languages",
    command: "npm run bench:recall -- --only languages",
    markdown: [
      `20 facts in each of six languages, one memory with them, ${UNRELATED} unrelated facts in the five other languages and ${UNRELATED} in English (\`test/data/languages*.jsonl\`); ${embeddedBy}. Each fact is asked for in other words of its own language and, if it is not English, in English.`,
      table(["questions", "half", "number", ...columns], rows),
    ].join("\n\n"),
    json: answers,
  };
}

function cellsOf(by: By, answers: readonly LanguageAnswer[]): readonly string[] {
  const share = (holds: (answer: LanguageAnswer) => boolean) =>
    percent(mean(answers.map((one) => Number(holds(one)))));
  const isFirst = ({ hits: [first], wanted }: LanguageAnswer) => first?.key === wanted;
  const isSure = ({ hits: [first] }: LanguageAnswer) => first !== undefined && !first.possible;
  return [
    share(isFirst),
    share(({ hits, wanted }) => hits.some(({ key }) => key === wanted)),
    ...(by === "vector"
      ? []
      : [share((one) => isFirst(one) && isSure(one)), share((one) => !isFirst(one) && isSure(one))]),
  ];
}
