/** Text of `history` and `undo` for both command lines. */
import { HelmdeckError } from "../../engine/errors.ts";
import { harmlessBlock, harmlessLine } from "../../engine/facts/hostile-text.ts";
import { writerText } from "../../engine/projections/frame.ts";
import type { FactHistory, FormerView, UndoneFact } from "../memory.ts";
import type { Presented, Voice } from "./presented.ts";
import { localMinute } from "./words.ts";

export function historyText({ key, former }: FactHistory, { caller, command, style }: Voice): Presented {
  if (former.length === 0) {
    const note = `There are no former values of ${harmlessLine(key)} in the memory of ${harmlessLine(caller)}.`;
    return { answer: [], notes: [note] };
  }
  const entries = former.flatMap((one, index) => [...(index > 0 ? [""] : []), ...formerLines(one, style)]);
  const shown = harmlessLine(key);
  const note = `These are former values: ${command} get ${shown} prints the current one, ${command} undo ${shown} undoes the last store.`;
  return { answer: entries, notes: [note] };
}

/** `again`: the command. */
export function undoText({ undone, restored }: UndoneFact, again: string): Presented {
  const there = restored.map(({ key, updatedAt }) => `${harmlessLine(key)}, as of ${localMinute(updatedAt)}`);
  const taken = `Undid the store of ${harmlessLine(undone.key)} on ${localMinute(undone.updatedAt)}.`;
  return {
    answer: [`${taken} Restored: ${there.join("; ")}.`],
    notes: [`The undone value was deleted. ${again} again goes one store further back.`],
  };
}

/** The error for a missing fact. */
export function noFact(): HelmdeckError {
  return new HelmdeckError("not_found", "There is no fact with that key.");
}

/** The error for a missing history. Does not repeat the key, since messages end up in logs. */
export function noHistory(caller: string): HelmdeckError {
  const message = `There is no such fact in the memory of ${caller}, and no fact superseded it. Keys are exact and case-sensitive.`;
  return new HelmdeckError("not_found", message, { details: { caller } });
}

function formerLines(
  { key, value, updatedAt, writer }: FormerView,
  style: Voice["style"],
): readonly string[] {
  const about = `${localMinute(updatedAt)}${writer === undefined ? "" : `  by ${writerText(writer, "person")}`}`;
  return [
    `${harmlessLine(key)}  ${style("dim", about)}`,
    ...harmlessBlock(value)
      .trimEnd()
      .split("\n")
      .map((line) => `      ${style("bold", line)}`.trimEnd()),
  ];
}
