/** Text of `search` for both command lines. */
import { frameOf, harmlessLine, quotedText } from "../../engine/index.ts";
import type { RecallHit } from "../../recall/index.ts";
import type { SearchAnswer } from "../memory.ts";
import { unmatchedText } from "../searching.ts";
import { localMinute } from "./local-times.ts";
import type { Presented, Voice } from "./presented.ts";

export function searchText(answer: SearchAnswer, voice: Voice): Presented {
  const { results, reason } = answer;
  return {
    answer: [
      ...results.flatMap((hit, index) => [...(index > 0 ? [""] : []), ...hitLines(hit, voice)]),
      ...leftOutLines(answer.leftOut ?? [], voice),
    ],
    notes: [...missNotes(answer, voice), ...(reason === undefined ? [] : [`Note: ${harmlessLine(reason)}`])],
  };
}

function hitLines(hit: RecallHit, { style }: Voice): readonly string[] {
  const { possible, snippet, parts } = hit;
  const score = style(possible ? "yellow" : "green", hit.score.toFixed(2));
  const mark = possible ? "  (only possibly related)" : "";
  return [
    `${score}  ${style("bold", frameOf(hit, { time: localMinute, bare: true }))}${mark}`,
    ...(parts === undefined ? [] : [`      ${style("dim", partsLine(parts))}`]),
    ...quotedText(snippet)
      .split("\n")
      .map((line) => `      ${line}`),
  ];
}

/** Only features that affect the score. */
function partsLine(parts: NonNullable<RecallHit["parts"]>): string {
  const moving = Object.entries(parts).filter(([, { value, weight }]) => value * weight !== 0);
  const products = moving.map(([name, { value, weight }]) => {
    return `${harmlessLine(name)} ${value.toFixed(2)} × ${weight}`;
  });
  return `score: ${products.join(" + ")}`;
}

function leftOutLines(leftOut: NonNullable<SearchAnswer["leftOut"]>, { style }: Voice): readonly string[] {
  const lines = leftOut.flatMap(({ key, why, parts }) => [
    `      ${harmlessLine(key)}: ${why}`,
    `      ${style("dim", partsLine(parts))}`,
  ]);
  return lines.length === 0 ? [] : ["", "Not shown:", ...lines];
}

function missNotes(
  { results: [best], unmatched }: SearchAnswer,
  { caller, command }: Voice,
): readonly string[] {
  const nothing = `Nothing in the memory of ${harmlessLine(caller)} answers this`;
  if (best !== undefined)
    return best.possible ? [`${nothing} for certain. These hits are only possibly related.`] : [];
  if (unmatched === undefined) return [`${nothing}.`];
  return [
    `${nothing}. ${unmatchedText(unmatched, `${command} list shows the facts`)}`,
    ...(unmatched.facts === 0 ? [] : ["Try other or fewer words."]),
  ];
}
