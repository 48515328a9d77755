/** Explains a hit: its features in words, and in numbers. */

import type { RecallHit, SearchAnswer } from "../../app/memory.ts";
import { type Html, html, line, shortLine } from "../html.ts";
import { matches } from "./matched-words.ts";

type Parts = NonNullable<RecallHit["parts"]>;

const NAMES: Readonly<Record<string, string>> = {
  coverage: "Share of the query's words found",
  synonyms: "Share of the query's words with a synonym found",
  bm25: "Frequency and rarity of the words",
  proximity: "How close together the words are",
  context: "Query words in neighbouring facts",
  nearness: "Semantic similarity (z-score)",
  unknown: "Share of words not in this memory",
  unknownNames: "Share of names and numbers not in this memory",
  fewWords: "None or only one of several words found",
  isNamed: "Named by its key or path",
};

/** In the order of their effect on the score. */
export function whyHit(
  hit: RecallHit,
  asked: ReadonlySet<string>,
  mode: SearchAnswer["mode"],
): readonly string[] {
  const { parts = {} } = hit;
  const moves = (name: string): boolean => (parts[name]?.value ?? 0) * (parts[name]?.weight ?? 0) !== 0;
  const words = wordsText(matches(`${hit.key} ${hit.title} ${hit.snippet}`, asked));
  const said: readonly (string | false)[] = [
    moves("isNamed") && "The query names its key or path.",
    words ?? (moves("bm25") && "It has words of the query."),
    moves("synonyms") && "It has synonyms of the query's words.",
    moves("proximity") && "The words are close together, as in the query.",
    moves("context") && "Neighbouring facts have words of the query.",
    mode === "hybrid" && moves("nearness") && meaningText(parts),
    moves("unknownNames") && "Against it: a name or number of the query is not in this memory.",
    !moves("unknownNames") &&
      moves("unknown") &&
      "Against it: some words of the query are not in this memory.",
    moves("fewWords") && "Against it: it has none or only one of the query's words.",
  ];
  const given = said.filter((text) => typeof text === "string");
  return given.length > 0 ? given : ["It was recorded at the time that the query names."];
}

function meaningText({ nearness }: Parts): string | false {
  const value = nearness?.value ?? 0;
  if (value <= 0) return false;
  return `Its meaning is ${value >= 1.5 ? "close" : "fairly close"} to the query.`;
}

/** `Words of the query in it: "konflux", "deploy" (as "deployment").` */
function wordsText(found: ReadonlyMap<string, string>): string | undefined {
  if (found.size === 0) return undefined;
  const words = [...found]
    .slice(0, 8)
    .map(([asked, as]) => (asked === as ? quoted(asked) : `${quoted(asked)} (as ${quoted(as)})`));
  return `Words of the query in it: ${words.join(", ")}.`;
}

function quoted(word: string): string {
  return `“${shortLine(word, 40)}”`;
}

export function partsTable(parts: Parts): Html {
  const rows = Object.entries(parts);
  return html`<div class="table"><table><caption>Features and their weights. A negative weight counts against the hit.</caption>
<thead><tr><th scope="col">Feature</th><th scope="col" class="n">Value</th><th scope="col" class="n">Weight</th><th scope="col" class="n">Counts</th></tr></thead>
<tbody>${rows.map(
    ([name, { value, weight }]) =>
      html`<tr><th scope="row">${NAMES[name] ?? line(name)}</th><td class="n">${value.toFixed(2)}</td><td class="n">${weight}</td><td class="n">${(value * weight).toFixed(2)}</td></tr>`,
  )}</tbody></table></div>`;
}
