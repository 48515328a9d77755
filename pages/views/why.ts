/** Why a hit is one: its features in words, and in numbers for those who want them. */
import type { RecallHit, SearchAnswer } from "../../app/index.ts";
import { type Html, html, line, shortLine } from "../html.ts";
import { matches } from "./matched-words.ts";

type Parts = NonNullable<RecallHit["parts"]>;

const NAMES: Readonly<Record<string, string>> = {
  coverage: "Words of the question in it (share)",
  synonyms: "Words that may mean the same (share)",
  bm25: "How often, and how rare, its words are",
  proximity: "How close together the words stand",
  context: "What its neighbours answer",
  nearness: "Nearness of meaning (deviations from chance)",
  unknown: "Words that stand nowhere in this memory (share)",
  unknownNames: "Names and numbers that stand nowhere in this memory (share)",
  fewWords: "None of the words, or one of several",
  isNamed: "Named by its key or path",
};

/** In the order of what moves the score most. */
export function whyHit(
  hit: RecallHit,
  asked: ReadonlySet<string>,
  mode: SearchAnswer["mode"],
): readonly string[] {
  const { parts = {} } = hit;
  const moves = (name: string): boolean => (parts[name]?.value ?? 0) * (parts[name]?.weight ?? 0) !== 0;
  const words = wordsText(matches(`${hit.key} ${hit.title} ${hit.snippet}`, asked));
  const said: readonly (string | false)[] = [
    moves("isNamed") && "The question names it by its key or path.",
    words ?? (moves("bm25") && "Words of the question stand in it."),
    moves("synonyms") && "Words that may mean the same as the question's stand in it.",
    moves("proximity") && "The words stand close together, as in the question.",
    moves("context") && "What was written next to it answers words of the question.",
    mode === "hybrid" && moves("nearness") && meaningText(parts),
    moves("unknownNames") && "Against it: a name or number of the question stands nowhere in this memory.",
    !moves("unknownNames") &&
      moves("unknown") &&
      "Against it: some words of the question stand nowhere in this memory.",
    moves("fewWords") && "Against it: it has none of the question's words, or only one of several.",
  ];
  const given = said.filter((text) => typeof text === "string");
  return given.length > 0 ? given : ["It was recorded at the time that the question names."];
}

function meaningText({ nearness }: Parts): string | false {
  const value = nearness?.value ?? 0;
  if (value <= 0) return false;
  return `By meaning it lies ${value >= 1.5 ? "near" : "somewhat near"} the question.`;
}

/** `Words of the question in it: "konflux", "deploy" (as "deployment").` */
function wordsText(found: ReadonlyMap<string, string>): string | undefined {
  if (found.size === 0) return undefined;
  const words = [...found]
    .slice(0, 8)
    .map(([asked, as]) => (asked === as ? quoted(asked) : `${quoted(asked)} (as ${quoted(as)})`));
  return `Words of the question in it: ${words.join(", ")}.`;
}

function quoted(word: string): string {
  return `“${shortLine(word, 40)}”`;
}

export function partsTable(parts: Parts): Html {
  const rows = Object.entries(parts);
  return html`<div class="table"><table><caption>What speaks for it, and with a negative weight against it.</caption>
<thead><tr><th scope="col">Feature</th><th scope="col" class="n">Value</th><th scope="col" class="n">Weight</th><th scope="col" class="n">Counts</th></tr></thead>
<tbody>${rows.map(
    ([name, { value, weight }]) =>
      html`<tr><th scope="row">${NAMES[name] ?? line(name)}</th><td class="n">${value.toFixed(2)}</td><td class="n">${weight}</td><td class="n">${(value * weight).toFixed(2)}</td></tr>`,
  )}</tbody></table></div>`;
}
